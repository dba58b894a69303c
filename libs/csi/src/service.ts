import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { Root, type IConversionOptions, type INamespace, type Type } from 'protobufjs/light';
import { descriptor } from './generated/descriptor';
import type { ServiceName } from './types';

const conversion: IConversionOptions = { defaults: true, enums: String, longs: Number };

const paths: Readonly<Record<ServiceName, string>> = {
  identity: 'csi.v1.Identity',
  controller: 'csi.v1.Controller',
  node: 'csi.v1.Node',
  registration: 'pluginregistration.Registration',
};

let root: Root | undefined;
const descriptors = (): Root => (root ??= Root.fromJSON(descriptor as INamespace));

function codec(name: string) {
  let type: Type | undefined;
  const resolve = () => (type ??= descriptors().lookupType(name));
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

/** grpc-js's definition of a service, keyed by the camelCase method name; streaming methods are left out. */
export function serviceDefinition(
  service: ServiceName,
): ServiceDefinition & Record<string, MethodDefinition<object, object>> {
  const path = paths[service];
  const packageName = path.slice(0, path.lastIndexOf('.'));
  const methods = descriptors().lookupService(path).methods;
  return Object.fromEntries(
    Object.entries(methods).map(([name, { requestType, responseType }]) => {
      const request = codec(`${packageName}.${requestType}`);
      const response = codec(`${packageName}.${responseType}`);
      const definition: MethodDefinition<object, object> = {
        path: `/${path}/${name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: request.serialize,
        requestDeserialize: request.deserialize,
        responseSerialize: response.serialize,
        responseDeserialize: response.deserialize,
      };
      return [name.charAt(0).toLowerCase() + name.slice(1), definition];
    }),
  );
}
