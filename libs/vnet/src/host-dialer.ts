import { connect } from 'node:net';
import type { Dialer } from './dialer';
import { NetError } from './errors';

/** Opens connections in the machine's own network: for nodes with a real container runtime. */
export const hostDialer: Dialer = {
  dial: ({ host, port, signal, timeoutMs = 0 }) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const socket = connect({ host, port, allowHalfOpen: true });
      const abort = () => fail(signal?.reason as Error);
      const settle = () => {
        socket.off('error', fail).off('timeout', expire).setTimeout(0);
        signal?.removeEventListener('abort', abort);
      };
      const fail = (error: Error) => {
        settle();
        socket.on('error', () => undefined).destroy();
        reject(error);
      };
      const expire = () => fail(new NetError('ETIMEDOUT', `dial tcp ${host}:${port}`));
      signal?.addEventListener('abort', abort, { once: true });
      socket.setTimeout(timeoutMs);
      socket.once('timeout', expire).once('error', fail);
      socket.once('connect', () => {
        settle();
        resolve(socket);
      });
    }),
};
