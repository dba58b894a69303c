import { createServer } from 'node:net';
import { UsageError } from '@tinkernetes/component-base';

/**
 * The API server's port: the one asked for, or for 0 the one of the last start if it is free, or any. A busy port or
 * an address that is not this machine's is a UsageError.
 */
export async function chooseApiPort(options: {
  bind: string;
  asked: number;
  previous: number | undefined;
}): Promise<number> {
  const { bind, asked, previous } = options;
  if (asked === 0) {
    if (previous !== undefined && (await tryListen(bind, previous)) !== undefined) return previous;
    const port = await tryListen(bind, 0);
    if (port === undefined) throw new UsageError(`no free port on ${bind}`);
    return port;
  }
  const port = await tryListen(bind, asked);
  if (port === undefined) {
    throw new UsageError(
      `port ${asked} on ${bind} is in use: stop what uses it, or choose another with --api-port (0: any free port)`,
    );
  }
  return port;
}

function tryListen(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else if (error.code === 'EACCES')
        reject(new UsageError(`port ${port} needs more rights: choose one above 1023 with --api-port`));
      else if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
        reject(new UsageError(`--bind ${host}: not an address of this machine`));
      else reject(error);
    });
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}
