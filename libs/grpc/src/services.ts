import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { Root, type IConversionOptions, type INamespace, type Type } from 'protobufjs/light';

interface MethodFacts {
  requestType: string;
  responseType: string;
  requestStream?: boolean;
  responseStream?: boolean;
}
interface Nested {
  nested?: Record<string, Nested>;
  methods?: Record<string, MethodFacts>;
}

type Definition = ServiceDefinition & Record<string, MethodDefinition<object, object>>;

/** grpc-js's definition of a service by its full name, e.g. `csi.v1.Node`, keyed by the camelCase method name. */
export type GrpcServices = (service: string) => Definition;

const everyField: IConversionOptions = { defaults: true, enums: String, longs: Number };
/** Absent members of a oneof must stay absent. */
const setFields: IConversionOptions = { enums: String, longs: Number, oneofs: true };

/**
 * The services of a protobufjs JSON descriptor. Messages are plain objects: every field present but in messages that are
 * one oneof (`sparse`), enums by name, int64 as number, bytes as Buffer.
 */
export function grpcServices(descriptor: object, sparse: readonly string[] = []): GrpcServices {
  let root: Root | undefined;
  const typeOf = (name: string): Type => {
    root ??= Root.fromJSON(descriptor as INamespace);
    return root.lookupType(name);
  };
  const codec = (name: string) => {
    const conversion = sparse.includes(name) ? setFields : everyField;
    let type: Type | undefined;
    const resolve = () => (type ??= typeOf(name));
    return {
      serialize(value: object): Buffer {
        const t = resolve();
        const { buffer, byteOffset, length } = t.encode(t.fromObject(value)).finish();
        return Buffer.from(buffer, byteOffset, length);
      },
      deserialize(bytes: Buffer): object {
        const t = resolve();
        return t.toObject(t.decode(bytes), conversion);
      },
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
      Object.entries(methodsOf(descriptor, service)).map(([name, method]) => [
        name.charAt(0).toLowerCase() + name.slice(1),
        definition(`/${service}/${name}`, packageName, method),
      ]),
    );
  };
}

function methodsOf(descriptor: Nested, service: string): Record<string, MethodFacts> {
  let at: Nested | undefined = descriptor;
  for (const part of service.split('.')) at = at?.nested?.[part];
  if (!at?.methods) throw new Error(`the descriptor has no service ${service}`);
  return at.methods;
}
