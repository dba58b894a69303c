import { status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { ReadingServer } from '@tinkernetes/grpc';
import { registrationService, type RegisterRequest } from './device-plugin-api';

/** Serves the kubelet's half of the contract; what `register` throws is the plugin's answer. */
export async function serveRegistration(
  socket: string,
  register: (request: RegisterRequest) => void,
): Promise<{ close(): void }> {
  const server = new ReadingServer();
  server.addService(registrationService(), {
    register: (call: ServerUnaryCall<RegisterRequest, object>, callback: sendUnaryData<object>) => {
      try {
        register(call.request);
        callback(null, {});
      } catch (error) {
        callback({ code: status.UNKNOWN, details: error instanceof Error ? error.message : String(error) });
      }
    },
  });
  await server.listen(`unix://${socket}`);
  return { close: () => server.forceShutdown() };
}
