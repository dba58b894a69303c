import { realClock } from '@tinkernetes/component-base';
import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js';
import { CsiError, type CsiErrorCode } from './csi-error';
import { serviceDefinition } from './service';
import type { Service, ServiceName } from './types';

export type CsiClient<S extends ServiceName> = Service<S> & {
  close(): void;
};

const codeNames = new Map(Object.entries(status).map(([name, code]) => [code, name as CsiErrorCode]));

/** As upstream's kubelet: a driver that does not answer in this time is asked again later. */
const defaultTimeoutMs = 120_000;

/** Calls of one service of the driver at `unix:///path`; they reject with CsiError. */
export function createCsiClient<S extends ServiceName>(
  service: S,
  endpoint: string,
  { timeoutMs = defaultTimeoutMs }: { timeoutMs?: number } = {},
): CsiClient<S> {
  const channel = new Client(endpoint, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
  });
  const methods: Record<string, unknown> = { close: () => channel.close() };
  for (const [name, method] of Object.entries(serviceDefinition(service))) {
    methods[name] = (request: object) =>
      new Promise((resolve, reject) => {
        // gRPC keeps deadlines in real time.
        const deadline = new Date(realClock.now() + timeoutMs);
        channel.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          { deadline },
          (error: ServiceError | null, answer?: object) => {
            if (error) reject(toCsiError(error));
            else resolve(answer);
          },
        );
      });
  }
  return methods as unknown as CsiClient<S>;
}

const toCsiError = (error: ServiceError): CsiError =>
  new CsiError(codeNames.get(error.code) ?? 'UNKNOWN', error.details || error.message, { cause: error });
