import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { find, type MethodFacts, type Namespace } from './descriptor';
import { decode, encode } from './message-codec';
import { messageTypes, type MessageType } from './message-type';

type Definition = ServiceDefinition & Record<string, MethodDefinition<object, object>>;

/** grpc-js's definition of a service by its full name, e.g. `csi.v1.Node`, keyed by the camelCase method name. */
export type GrpcServices = (service: string) => Definition;

/**
 * The services of a protobufjs JSON descriptor. Messages are plain objects: every field present but in messages that are
 * one oneof (`sparse`), enums by name, int64 as number, bytes as Buffer.
 */
export function grpcServices(descriptor: object, sparse: readonly string[] = []): GrpcServices {
  const typeOf = messageTypes(descriptor as Namespace);
  const codec = (name: string) => {
    const options = { sparse: sparse.includes(name) };
    let type: MessageType | undefined;
    const resolve = () => (type ??= typeOf(name));
    return {
      serialize: (value: object): Buffer => encode(resolve(), value),
      deserialize: (bytes: Buffer): object => decode(resolve(), bytes, options),
    };
  };
  const definition = (path: string, packageName: string, method: MethodFacts) => {
    const request = codec(`${packageName}.${method.requestType}`);
    const response = codec(`${packageName}.${method.responseType}`);
    return {
      path,
      requestStream: method.requestStream ?? false,
      responseStream: method.responseStream ?? false,
      requestSerialize: request.serialize,
      requestDeserialize: request.deserialize,
      responseSerialize: response.serialize,
      responseDeserialize: response.deserialize,
    };
  };
  return (service) => {
    const packageName = service.slice(0, service.lastIndexOf('.'));
    return Object.fromEntries(
      Object.entries(methodsOf(descriptor as Namespace, service)).map(([name, method]) => [
        name.charAt(0).toLowerCase() + name.slice(1),
        definition(`/${service}/${name}`, packageName, method),
      ]),
    );
  };
}

function methodsOf(descriptor: Namespace, service: string): Record<string, MethodFacts> {
  const methods = find(descriptor, service)?.methods;
  if (!methods) throw new Error(`the descriptor has no service ${service}`);
  return methods;
}
