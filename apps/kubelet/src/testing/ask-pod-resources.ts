import { Client, credentials } from '@grpc/grpc-js';
import { podResourcesService } from '../pod-resources/pod-resources-api';

/** Calls the API as an agent of the node does. */
export async function askPodResources(socket: string, name: string, request: object = {}): Promise<unknown> {
  const method = podResourcesService()[name];
  if (!method) throw new Error(`there is no method ${name}`);
  const client = new Client(`unix://${socket}`, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
  });
  try {
    return await new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        (error, answer) => (error ? reject(error) : resolve(answer)),
      );
    });
  } finally {
    client.close();
  }
}
