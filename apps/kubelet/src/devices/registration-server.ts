import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { registrationService, type RegisterRequest } from './device-plugin-api';

/** Serves the kubelet's half of the contract; what `register` throws is the plugin's answer. */
export async function serveRegistration(
  socket: string,
  register: (request: RegisterRequest) => void,
): Promise<{ close(): void }> {
  const server = new Server();
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
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  return { close: () => server.forceShutdown() };
}
