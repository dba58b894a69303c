import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger, Random } from '@tinkernetes/component-base';
import { CriError, type AttachRequest, type ExecRequest, type PortForwardRequest } from '@tinkernetes/cri';
import type {
  PortForwardHandler,
  RemoteCommandHandler,
  RemoteCommandStreams,
  UpgradeRequest,
} from '@tinkernetes/streaming';
import type { Container } from '../containers/container';
import type { SandboxRecord } from '../containers/records';
import type { RuntimeState } from '../containers/runtime-state';
import { BrokenPipe, OpenFile } from '../kernel/open-file';
import { Pipe } from '../kernel/pipe';
import type { NodeNetwork } from '../network/node-network';

type Session = (upgrade: UpgradeRequest) => Promise<void>;

/** A URL that nobody came for is forgotten when this many newer ones exist. */
const maxTokens = 1000;

/** Serves the URLs that Exec, Attach and PortForward hand out; each is good for one connection. */
export class StreamingServer {
  private readonly sessions = new Map<string, Session>();
  private readonly sockets = new Set<Duplex>();
  private server: Server | undefined;
  private port = 0;

  constructor(
    private readonly state: RuntimeState,
    private readonly network: NodeNetwork,
    private readonly options: { random: Random; logger: Logger },
  ) {}

  exec(request: ExecRequest): Promise<{ url: string }> {
    const container = this.state.container(request.containerId);
    if (!container.running) throw new CriError('UNKNOWN', `container is in ${container.record.state} state`);
    return this.offer('exec', async (upgrade) => {
      const { serveRemoteCommand } = await import('@tinkernetes/streaming');
      const handler = execHandler(container, request);
      await serveRemoteCommand(upgrade, request, naming('error executing command in container', handler));
    });
  }

  attach(request: AttachRequest): Promise<{ url: string }> {
    const container = this.state.container(request.containerId);
    container.attachment();
    return this.offer('attach', async (upgrade) => {
      const { serveRemoteCommand } = await import('@tinkernetes/streaming');
      const handler = attachHandler(container);
      await serveRemoteCommand(upgrade, request, naming('error attaching to container', handler));
    });
  }

  portForward({ podSandboxId, port }: PortForwardRequest): Promise<{ url: string }> {
    const sandbox = this.state.sandbox(podSandboxId);
    if (sandbox.state !== 'SANDBOX_READY')
      throw new CriError('UNKNOWN', `sandbox container "${sandbox.id}" is not running`);
    const namespace = this.network.namespace(sandbox.netns);
    return this.offer('portforward', async (upgrade) => {
      const { servePortForward } = await import('@tinkernetes/streaming');
      const forward: PortForwardHandler = async ({ port: wanted, stream, signal }) => {
        const connection = await namespace
          .connect({ host: '127.0.0.1', port: wanted, signal })
          .catch((error: unknown) => {
            throw new Error(forwardFailed(sandbox, wanted, error), { cause: error });
          });
        await Promise.all([pipeline(stream, connection.stream), pipeline(connection.stream, stream)]);
      };
      await servePortForward(upgrade, forward, { ports: port });
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    const { server } = this;
    if (!server) return;
    server.close();
    await once(server, 'close');
  }

  private async offer(kind: string, session: Session): Promise<{ url: string }> {
    await this.start();
    const token = this.options.random.hex(8);
    if (this.sessions.size >= maxTokens) {
      const [oldest = ''] = this.sessions.keys();
      this.sessions.delete(oldest);
    }
    this.sessions.set(`/${kind}/${token}`, session);
    return { url: `http://127.0.0.1:${this.port}/${kind}/${token}` };
  }

  private async start(): Promise<void> {
    if (this.server) return;
    const server = createServer((_request, response) => {
      response.writeHead(400).end('Upgrade request required');
    });
    this.server = server;
    server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
    server.listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    this.port = address !== null && typeof address === 'object' ? address.port : 0;
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    const path = (request.url ?? '').split('?')[0] ?? '';
    const session = this.sessions.get(path);
    this.sessions.delete(path);
    if (!session) {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    session({ request, socket, head }).catch((error: unknown) => {
      this.options.logger.debug({ err: error }, 'streaming session failed');
      socket.destroy();
    });
  }
}

/** Says of a failure what failed. Source: k8s.io/kubelet/pkg/cri/streaming/remotecommand. */
const naming =
  (what: string, handler: RemoteCommandHandler): RemoteCommandHandler =>
  (streams) =>
    handler(streams).catch((error: unknown) => {
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    });

/** As containerd words it, inside of the words of Kubernetes' streaming server. */
function forwardFailed({ id, netns }: SandboxRecord, port: number, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return (
    `error forwarding port ${port} to pod ${id}, uid : failed to execute portforward in network namespace "${netns}": ` +
    `failed to connect to localhost:${port} inside namespace "${id}", IPv4: ${reason}`
  );
}

function execHandler(container: Container, { cmd, tty }: ExecRequest): RemoteCommandHandler {
  return async (streams) => {
    const { stdin, stdout, stderr } = streams;
    if (tty) {
      const terminal = container.newTerminal((data) => writeTo(stdout, data));
      const file = new OpenFile(terminal.io);
      const process = await container.exec({
        argv: cmd,
        stdin: file,
        stdout: file.retain(),
        stderr: file.retain(),
        terminal,
      });
      stdin?.on('data', (data: Buffer) => terminal.input(data));
      stdin?.on('end', () => terminal.hangUp());
      streams.onResize(({ width, height }) => terminal.resize(width, height));
      onGone(streams, () => process.kill('SIGHUP'));
      return { exitCode: await process.exited };
    }
    const pipe = stdin ? new Pipe() : undefined;
    const process = await container.exec({
      argv: cmd,
      stdin: pipe?.readEnd,
      stdout: streamFile(stdout),
      stderr: streamFile(stderr),
    });
    if (stdin && pipe) void feed(stdin, pipe);
    return { exitCode: await process.exited };
  };
}

function attachHandler(container: Container): RemoteCommandHandler {
  return async (streams) => {
    const { output, stdin: input, terminal, exited } = container.attachment();
    const stop = output.attach((stream, data) =>
      writeTo(stream === 'stdout' ? streams.stdout : streams.stderr, data),
    );
    streams.stdin?.on('data', (data: Buffer) => {
      if (terminal) terminal.input(data);
      else void Promise.resolve(input?.writeEnd.write(data)).catch(() => streams.stdin?.destroy());
    });
    streams.stdin?.on('end', () => container.detached());
    streams.onResize(({ width, height }) => terminal?.resize(width, height));
    const gone = new Promise<void>((resolve) => onGone(streams, resolve));
    await Promise.race([exited, gone]);
    stop();
    if (streams.stdin) container.detached();
    // Attaching succeeded, whatever the container exits with; a client takes that from the Pod's status.
    return { exitCode: 0 };
  };
}

function onGone({ signal }: RemoteCommandStreams, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}

async function feed(stdin: Readable, pipe: Pipe): Promise<void> {
  try {
    for await (const data of stdin) await pipe.writeEnd.write(data as Buffer);
  } catch (error) {
    if (!(error instanceof BrokenPipe)) stdin.destroy();
  } finally {
    pipe.writeEnd.release();
  }
}

function streamFile(stream: Writable | undefined): OpenFile {
  return new OpenFile({ write: (data) => writeTo(stream, data) });
}

function writeTo(stream: Writable | undefined, data: Buffer): Promise<void> | void {
  if (!stream || stream.destroyed || stream.write(data)) return undefined;
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
