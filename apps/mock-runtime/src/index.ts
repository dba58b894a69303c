import type { MainOptions } from '@tinkernetes/component-base';
import { flags, toOptions, type MockRuntimeOptions } from './options';
import { run } from './run';

export const component: MainOptions<typeof flags, MockRuntimeOptions> = {
  component: 'mock-runtime',
  description:
    "A CRI runtime whose containers are programs in this process, with the node's emulated network.",
  flags,
  options: toOptions,
  run,
};

export { defineImage, type ImageProgram, type ImageProgramContext } from './images/define-image';
export type { ImagesModule, ImageTools } from './images/user-images';
