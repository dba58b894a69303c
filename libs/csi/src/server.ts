import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { status, type ServerUnaryCall, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { ReadingServer } from '@tinkernetes/grpc';
import { CsiError } from './csi-error';
import { serviceDefinition } from './service';
import type { Service, ServiceName } from './types';

/** What a driver offers; a method that is left out answers UNIMPLEMENTED. */
export type CsiServices = { readonly [S in ServiceName]?: Partial<Service<S>> };

export interface CsiServer {
  close(): void;
}

/** Serves at `unix:///path`, in the place of a socket that a dead process has left there. */
export async function serveCsi(endpoint: string, services: CsiServices): Promise<CsiServer> {
  const path = endpoint.replace(/^unix:\/\//, '');
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  const server = new ReadingServer();
  for (const [service, handlers] of Object.entries(services)) {
    const definition = serviceDefinition(service as ServiceName);
    server.addService(definition, implementationOf(definition, handlers as Handlers));
  }
  await server.listen(endpoint);
  return { close: () => server.forceShutdown() };
}

type Handlers = Record<string, ((request: object) => Promise<object>) | undefined>;

function implementationOf(
  definition: ReturnType<typeof serviceDefinition>,
  handlers: Handlers,
): UntypedServiceImplementation {
  const implementation: UntypedServiceImplementation = {};
  for (const [name, { path }] of Object.entries(definition)) {
    const run = async (request: object): Promise<object> => {
      const handler = handlers[name];
      if (!handler) throw new CsiError('UNIMPLEMENTED', `unknown method ${path.split('/')[2] ?? name}`);
      return handler.call(handlers, request);
    };
    implementation[name] = (
      call: ServerUnaryCall<object, object>,
      callback: (error: object | null, answer?: object) => void,
    ) => {
      run(call.request).then(
        (answer) => callback(null, answer),
        (error: unknown) => callback(toStatus(error)),
      );
    };
  }
  return implementation;
}

function toStatus(error: unknown): { code: number; details: string } {
  if (error instanceof CsiError) return { code: status[error.code], details: error.message };
  return { code: status.INTERNAL, details: error instanceof Error ? error.message : String(error) };
}
