import type { MainOptions } from '@tinkernetes/component-base';
import { flags } from './flags';
import { toOptions, type ApiServerOptions } from './options';
import { run } from './run';

export { startServer, type RunningApiServer } from './server/api-server';
export { toOptions, type ApiServerOptions } from './options';
export { flags } from './flags';
export { run } from './run';

/** The API server: the only component that touches storage. */
export const component: MainOptions<typeof flags, ApiServerOptions> = {
  component: 'kube-apiserver',
  description: 'Serves the Kubernetes API over HTTPS on a storage driver.',
  flags,
  options: toOptions,
  run,
};
