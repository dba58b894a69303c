import { proxyUpgrade } from '@tinkernetes/streaming';
import { allContainers, uidOf } from '../pods/pod-facts';
import { hasReadySandbox } from '../runtime/pod-runtime-status';
import { HttpError } from './http-error';
import type { ContainerAddress, HttpExchange, UpgradeExchange } from './routes';
import type { ServerDeps } from './endpoint';
import type { NodeAgent } from '../node-agent';
import type { Pod } from '@tinkernetes/api';

const isSet = (query: URLSearchParams, ...names: string[]): boolean =>
  names.some((name) => ['1', 'true'].includes(query.get(name) ?? ''));

/** The query names of the kubelet's API and those of the API server's mean the same. */
const streamsOf = ({ searchParams: q }: URL) => ({
  stdin: isSet(q, 'input', 'stdin'),
  stdout: isSet(q, 'output', 'stdout'),
  stderr: isSet(q, 'error', 'stderr') && !isSet(q, 'tty'),
  tty: isSet(q, 'tty'),
});

export async function serveExec(
  { runtime }: ServerDeps,
  exchange: UpgradeExchange,
  at: ContainerAddress,
): Promise<void> {
  const containerId = await runningContainer(at);
  const { url } = await runtime.exec({
    containerId,
    cmd: exchange.url.searchParams.getAll('command'),
    ...streamsOf(exchange.url),
  });
  await proxyUpgrade(exchange, { url: new URL(url), headers: withoutCredentials });
}

export async function serveAttach(
  { runtime }: ServerDeps,
  exchange: UpgradeExchange,
  at: ContainerAddress,
): Promise<void> {
  const { name, namespace } = at.pod.metadata;
  const containerId = await runningContainer(
    at,
    `container ${at.container} not found in pod ${name}_${namespace}`,
  );
  const spec = allContainers(at.pod).find((c) => c.container.name === at.container)?.container;
  const { url } = await runtime.attach({ containerId, ...streamsOf(exchange.url), tty: spec?.tty ?? false });
  await proxyUpgrade(exchange, { url: new URL(url), headers: withoutCredentials });
}

export async function servePortForward(
  { runtime }: ServerDeps,
  exchange: UpgradeExchange,
  { agent, pod }: { agent: NodeAgent; pod: Pod },
): Promise<void> {
  const status = await agent.cache.get(uidOf(pod));
  const sandbox = status.sandboxes[0];
  if (!sandbox || !hasReadySandbox(status))
    throw new HttpError(404, `pod ${pod.metadata.name} has no running sandbox`);
  const port = exchange.url.searchParams
    .getAll('port')
    .flatMap((text) => text.split(','))
    .map(Number);
  const { url } = await runtime.portForward({ podSandboxId: sandbox.id, port });
  await proxyUpgrade(exchange, { url: new URL(url), headers: withoutCredentials });
}

/**
 * A tunnel into the node's network for the API server's pod and service proxies and webhooks: `GET /dial?host=&port=`
 * with `Upgrade: tcp`; after the 101 the bytes are those of the connection.
 */
export async function serveDial(
  { dialer }: ServerDeps,
  { socket, head, url }: UpgradeExchange,
): Promise<void> {
  const host = url.searchParams.get('host') ?? '';
  const port = Number(url.searchParams.get('port'));
  if (!host || !Number.isInteger(port) || port < 1) throw new HttpError(400, 'dial needs host and port');
  let backend;
  try {
    backend = await dialer.dial({ host, port, timeoutMs: dialTimeoutMs });
  } catch (error) {
    throw new HttpError(502, error instanceof Error ? error.message : String(error));
  }
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
  if (head.length > 0) backend.write(head);
  backend.on('error', () => socket.destroy());
  socket.on('close', () => backend.destroy());
  backend.on('close', () => socket.end());
  socket.pipe(backend).pipe(socket);
}

const dialTimeoutMs = 30_000;

/** The runtime's streaming server trusts the URL's token, not the client's credentials. */
const withoutCredentials = { authorization: undefined, cookie: undefined };

export async function serveRun(
  { runtime }: ServerDeps,
  { response, url }: HttpExchange,
  at: ContainerAddress,
): Promise<void> {
  const containerId = await runningContainer(at);
  const cmd = (url.searchParams.get('cmd') ?? '').split(' ').filter(Boolean);
  const { stdout, stderr } = await runtime.execSync({ containerId, cmd });
  response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.concat([stdout, stderr]));
}

async function runningContainer(
  { agent, pod, container }: ContainerAddress,
  missing = `container not found ("${container}")`,
): Promise<string> {
  const status = await agent.cache.get(uidOf(pod));
  const found = status.containers.find((c) => c.name === container);
  if (found?.state === 'running') return found.id;
  throw new HttpError(404, missing);
}
