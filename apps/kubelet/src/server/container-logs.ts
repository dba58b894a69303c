import { linkSignals } from '@tinkernetes/component-base';
import { once } from 'node:events';
import { allContainers, uidOf } from '../pods/pod-facts';
import type { RuntimeContainer } from '../runtime/pod-runtime-status';
import { HttpError } from './http-error';
import { readLogs, type LogOptions } from './log-reader';
import type { ContainerAddress, HttpExchange } from './routes';
import type { ServerDeps } from './endpoint';

/** GET /containerLogs/<ns>/<pod>/<container>. Source: pkg/kubelet/server getContainerLogs, GetKubeletContainerLogs. */
export async function serveContainerLogs(
  { context, runtime }: ServerDeps,
  { response, url }: HttpExchange,
  at: ContainerAddress,
): Promise<void> {
  const options = logOptions(url.searchParams, context.clock.now());
  const container = await containerToRead(at, options.previous);
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('the client has gone')));
  const { signal } = linkSignals(gone.signal, context.signal);
  response.writeHead(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' });
  response.flushHeaders();
  const isRunning = async () => {
    const { status } = await runtime.containerStatus({ containerId: container.id });
    return status?.state === 'CONTAINER_RUNNING';
  };
  try {
    for await (const chunk of readLogs(container.logPath, {
      ...options,
      isRunning,
      clock: context.clock,
      signal,
    })) {
      if (!response.write(chunk)) await once(response, 'drain', { signal });
    }
    response.end();
  } catch (error) {
    if (!signal.aborted) throw error;
    response.end();
  }
}

async function containerToRead(
  { agent, pod, container: name }: ContainerAddress,
  previous: boolean,
): Promise<RuntimeContainer> {
  const podName = pod.metadata.name;
  if (!allContainers(pod).some((c) => c.container.name === name)) {
    throw new HttpError(404, `container "${name}" not found in pod "${podName}"`);
  }
  const status = await agent.cache.get(uidOf(pod));
  const instances = status.containers.filter((c) => c.name === name);
  if (previous) {
    const ended = instances.filter((c) => c.state === 'exited');
    const [current] = instances;
    // While the newest instance waits for its restart it is itself the previous one.
    const found =
      current?.state === 'exited' && agent.containerStatus(pod, name)?.state?.waiting !== undefined
        ? current
        : ended.find((c) => c !== current);
    if (!found)
      throw new HttpError(400, `previous terminated container "${name}" in pod "${podName}" not found`);
    return found;
  }
  const [current] = instances;
  if (current) return current;
  const state = agent.containerStatus(pod, name)?.state;
  // Of a Pod that has ended and is being deleted nothing is left.
  if (state?.terminated)
    throw new HttpError(400, `unable to retrieve container logs for ${state.terminated.containerID ?? ''}`);
  const waiting = state?.waiting?.reason;
  throw new HttpError(
    400,
    waiting === undefined
      ? `container "${name}" in pod "${podName}" is waiting to start - no logs yet`
      : `container "${name}" in pod "${podName}" is waiting to start: ${pullTexts[waiting] ?? waiting}`,
  );
}

/** Source: pkg/kubelet validateContainerLogStatus. */
const pullTexts: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

type Query = Omit<LogOptions, 'isRunning' | 'clock' | 'signal'> & { previous: boolean };

function logOptions(query: URLSearchParams, now: number): Query {
  const flag = (name: string) => query.get(name) === 'true' || query.get(name) === '1';
  const number = (name: string): number | undefined => {
    const text = query.get(name);
    if (text === null || text === '' || text === 'all') return undefined;
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0)
      throw new HttpError(400, `{"message": "Unable to decode query: ${name}=${text}"}`);
    return value;
  };
  const sinceSeconds = number('sinceSeconds');
  const sinceTime = query.get('sinceTime');
  const stream = query.get('stream') ?? 'All';
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    tailLines: number('tailLines') ?? number('tail'),
    limitBytes: number('limitBytes'),
    since: sinceTime
      ? Date.parse(sinceTime)
      : sinceSeconds === undefined
        ? undefined
        : now - sinceSeconds * 1000,
    stream: stream === 'Stdout' ? 'stdout' : stream === 'Stderr' ? 'stderr' : undefined,
  };
}
