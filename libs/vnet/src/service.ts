import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { Root, type IConversionOptions, type INamespace, type Type } from 'protobufjs/light';
import { descriptor } from './generated/descriptor';

const conversion: IConversionOptions = { defaults: true, enums: String, longs: Number, oneofs: true };

/** Absent members of a oneof must stay absent: only Frame and ListenEvent have one. */
const sparse: IConversionOptions = { enums: String, longs: Number, oneofs: true };

let root: Root | undefined;

function typeOf(name: string): Type {
  root ??= Root.fromJSON(descriptor as INamespace);
  return root.lookupType(`vnet.v1.${name}`);
}

function codec(name: string) {
  const options = name === 'Frame' || name === 'ListenEvent' ? sparse : conversion;
  let type: Type | undefined;
  const resolve = () => (type ??= typeOf(name));
  return {
    serialize: (value: object): Buffer => {
      const t = resolve();
      return Buffer.from(t.encode(t.fromObject(value)).finish());
    },
    deserialize: (bytes: Buffer): object => {
      const t = resolve();
      return t.toObject(t.decode(bytes), options);
    },
  };
}

interface MethodFacts {
  requestType: string;
  responseType: string;
  requestStream?: boolean;
  responseStream?: boolean;
}

interface Nested {
  nested: Record<string, Nested>;
  methods: Record<string, MethodFacts>;
}

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
  | 'trace';

/** grpc-js's definition of vnet.v1.Network, keyed by the camelCase method name. */
export function networkService(): ServiceDefinition &
  Record<NetworkMethod, MethodDefinition<object, object>> {
  const methods = (descriptor as Nested).nested.vnet?.nested.v1?.nested.Network?.methods ?? {};
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name.charAt(0).toLowerCase() + name.slice(1),
      definition(`/vnet.v1.Network/${name}`, method),
    ]),
  ) as Record<NetworkMethod, MethodDefinition<object, object>>;
}

function definition(path: string, method: MethodFacts): MethodDefinition<object, object> {
  const request = codec(method.requestType);
  const response = codec(method.responseType);
  return {
    path,
    requestStream: method.requestStream ?? false,
    responseStream: method.responseStream ?? false,
    requestSerialize: request.serialize,
    requestDeserialize: request.deserialize,
    responseSerialize: response.serialize,
    responseDeserialize: response.deserialize,
  };
}
