import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { grpcServices } from '@tinkernetes/grpc';
import { descriptor } from './generated/descriptor';
import type { ServiceName } from './types';

const paths: Readonly<Record<ServiceName, string>> = {
  identity: 'csi.v1.Identity',
  controller: 'csi.v1.Controller',
  node: 'csi.v1.Node',
  registration: 'pluginregistration.Registration',
};
const services = grpcServices(descriptor);

/** grpc-js's definition of a service, keyed by the camelCase method name; streaming methods are left out. */
export function serviceDefinition(
  service: ServiceName,
): ServiceDefinition & Record<string, MethodDefinition<object, object>> {
  const all = Object.entries(services(paths[service]));
  return Object.fromEntries(all.filter(([, method]) => !method.requestStream && !method.responseStream));
}
