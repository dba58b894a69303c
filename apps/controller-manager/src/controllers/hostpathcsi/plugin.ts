import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CsiClient } from '@tinkernetes/csi';
import type { ControllerContext } from '../../manager/context';

/** The driver's name; its library is loaded with the first volume. */
export const driverName = 'hostpath.csi.tinkernetes.dev';

export type DriverCalls = Omit<CsiClient<'controller'>, 'close'>;

/** The controller half of the hostpath driver, in this process, spoken to as any driver: over gRPC on a socket. */
export class DriverPlugin {
  private started: Promise<DriverCalls> | undefined;

  constructor(private readonly context: Pick<ControllerContext, 'flags' | 'signal'>) {}

  /** Started by the first call. */
  calls(): Promise<DriverCalls> {
    this.started ??= this.start();
    return this.started;
  }

  private async start(): Promise<DriverCalls> {
    const { flags, signal } = this.context;
    const { createCsiClient, serveHostPathController } = await import('@tinkernetes/csi');
    const directory = await mkdtemp(join(tmpdir(), 'tinkernetes-csi-'));
    const endpoint = `unix://${join(directory, 'csi.sock')}`;
    const server = await serveHostPathController({
      endpoint,
      stateDir: flags['hostpath-csi-state-dir'],
      perNode: flags['hostpath-csi-per-node'],
    });
    const client = createCsiClient('controller', endpoint);
    const close = () => {
      client.close();
      server.close();
      rm(directory, { recursive: true, force: true }).catch(() => undefined);
    };
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
    return client;
  }
}
