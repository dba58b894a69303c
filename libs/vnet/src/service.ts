import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { grpcServices } from '@tinkernetes/grpc';
import { descriptor } from './generated/descriptor';

export type NetworkMethod =
  | 'getNode'
  | 'attach'
  | 'detach'
  | 'listInterfaces'
  | 'listen'
  | 'accept'
  | 'dial'
  | 'setRules'
  | 'setRoutes'
  | 'setPolicies'
  | 'trace';

/** grpc-js's definition of vnet.v1.Network, keyed by the camelCase method name. */
export function networkService(): ServiceDefinition &
  Record<NetworkMethod, MethodDefinition<object, object>> {
  return grpcServices(descriptor, ['vnet.v1.Frame', 'vnet.v1.ListenEvent'])('vnet.v1.Network') as ReturnType<
    typeof networkService
  >;
}
