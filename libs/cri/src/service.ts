import type { ServiceDefinition } from '@grpc/grpc-js';
import { grpcServices } from '@tinkernetes/grpc';
import { descriptor } from './generated/descriptor';

const services = grpcServices(descriptor);

/** grpc-js's definition of a runtime.v1 service, keyed by the camelCase method name. */
export const serviceDefinition = (service: 'RuntimeService' | 'ImageService'): ServiceDefinition =>
  services(`runtime.v1.${service}`);
