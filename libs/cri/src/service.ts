import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { Root, type IConversionOptions, type INamespace, type Type } from 'protobufjs/light';
import { descriptor } from './generated/descriptor';

/** Messages as the generated types promise: every field present, enums by name, int64 as number, bytes as Buffer. */
const conversion: IConversionOptions = {
  defaults: true,
  enums: String,
  longs: Number,
};

let root: Root | undefined;

function messageType(name: string): Type {
  root ??= Root.fromJSON(descriptor as INamespace);
  return root.lookupType(`runtime.v1.${name}`);
}

function codec(name: string) {
  let type: Type | undefined;
  const resolve = () => (type ??= messageType(name));
  return {
    serialize: (value: object): Buffer => {
      const t = resolve();
      return Buffer.from(t.encode(t.fromObject(value)).finish());
    },
    deserialize: (bytes: Buffer): object => {
      const t = resolve();
      return t.toObject(t.decode(bytes), conversion);
    },
  };
}

interface MethodFacts {
  requestType: string;
  responseType: string;
  responseStream?: boolean;
}

/** grpc-js's definition of a runtime.v1 service, keyed by the camelCase method name. */
export function serviceDefinition(service: 'RuntimeService' | 'ImageService'): ServiceDefinition {
  const methods = methodsOf(service);
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name.charAt(0).toLowerCase() + name.slice(1),
      definition(`/runtime.v1.${service}/${name}`, method),
    ]),
  );
}

function definition(path: string, method: MethodFacts): MethodDefinition<object, object> {
  const request = codec(method.requestType);
  const response = codec(method.responseType);
  return {
    path,
    requestStream: false,
    responseStream: method.responseStream ?? false,
    requestSerialize: request.serialize,
    requestDeserialize: request.deserialize,
    responseSerialize: response.serialize,
    responseDeserialize: response.deserialize,
  };
}

interface Nested {
  nested: Record<string, Nested>;
  methods: Record<string, MethodFacts>;
}

function methodsOf(service: string): Record<string, MethodFacts> {
  const packages = (descriptor as Nested).nested;
  const methods = packages.runtime?.nested.v1?.nested[service]?.methods;
  if (!methods) throw new Error(`the CRI descriptor has no service ${service}`);
  return methods;
}
