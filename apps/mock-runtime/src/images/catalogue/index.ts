import type { ImageDefinition } from '../image';
import { databases } from './databases';
import { define } from './entry';
import { kubernetesImages } from './kubernetes';
import { languages } from './languages';
import { shells } from './shells';
import { tutorials } from './tutorials';
import { validationImages } from './validation';
import { webServers } from './web-servers';

/** The images that can be pulled without further ado. */
export const catalogue: readonly ImageDefinition[] = [
  ...kubernetesImages,
  ...shells,
  ...webServers,
  ...databases,
  ...languages,
  ...tutorials,
  ...validationImages,
].map(define);
