import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CsiClient } from '@tinkernetes/csi';
import type { ControllerContext } from '../../manager/context';

/** The driver's name; its library is loaded with the first volume. */
export const driverName = 'hostpath.csi.tinkernetes.dev';

export type DriverCalls = Omit<CsiClient<'controller'>, 'close'>;

interface RunningDriver {
  calls: DriverCalls;
  close(): Promise<void>;
}

/** The controller half of the hostpath driver, in this process, spoken to as any driver: over gRPC on a socket. */
export class DriverPlugin {
  private started: Promise<RunningDriver> | undefined;

  constructor(private readonly context: Pick<ControllerContext, 'flags'>) {}

  /** Started by the first call. */
  async calls(): Promise<DriverCalls> {
    this.started ??= this.start().catch((error: unknown) => {
      // The next call tries again.
      this.started = undefined;
      throw error;
    });
    return (await this.started).calls;
  }

  /** Nothing is left of it when this resolves. */
  async close(): Promise<void> {
    await (await this.started)?.close();
  }

  private async start(): Promise<RunningDriver> {
    const { flags } = this.context;
    const { createCsiClient, serveHostPathController } = await import('@tinkernetes/csi');
    const directory = await mkdtemp(join(tmpdir(), 'tinkernetes-csi-'));
    const endpoint = `unix://${join(directory, 'csi.sock')}`;
    const server = await serveHostPathController({
      endpoint,
      stateDir: flags['hostpath-csi-state-dir'],
      perNode: flags['hostpath-csi-per-node'],
    });
    const client = createCsiClient('controller', endpoint);
    return {
      calls: client,
      async close() {
        client.close();
        server.close();
        await rm(directory, { recursive: true, force: true });
      },
    };
  }
}
