import type { IncomingMessage } from 'node:http';
import { badRequest, requestEntityTooLarge, type StatusError } from '@tinkernetes/apimachinery';

const bodyTooLarge = (limit: number): StatusError => requestEntityTooLarge(`limit is ${limit}`);

/** The whole body, at most `limit` bytes; more is refused with 413 and the rest is not read. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    request.resume();
    return Promise.reject(bodyTooLarge(limit));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else if (size - chunk.length <= limit) reject(bodyTooLarge(limit));
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(badRequest('unexpected EOF'));
    });
  });
}
