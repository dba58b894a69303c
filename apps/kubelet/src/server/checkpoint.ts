import { CriError } from '@tinkernetes/cri';
import { formatTime } from '@tinkernetes/component-base';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { uidOf } from '../pods/pod-facts';
import { HttpError } from './http-error';
import type { ServerDeps } from './endpoint';
import { json, type ContainerAddress, type HttpExchange } from './routes';

/**
 * POST /checkpoint/<ns>/<pod>/<container>[?timeout=SECONDS]: the runtime writes the container's state to an archive
 * below `<root>/checkpoints`, or says why it can't. Source: pkg/kubelet/server checkpoint; KEP-2008.
 */
export async function serveCheckpoint(
  { runtime, options, context }: ServerDeps,
  { response, url }: HttpExchange,
  { agent, pod, container: name }: ContainerAddress,
): Promise<void> {
  if (!pod.spec.containers.some((container) => container.name === name))
    throw new HttpError(404, `container ${name} does not exist`);
  const timeout = Number(url.searchParams.getAll('timeout').at(-1) ?? 0);
  if (!Number.isInteger(timeout)) throw new HttpError(404, 'cannot parse value of timeout parameter');
  const { name: podName = '', namespace = '' } = pod.metadata;
  const directory = join(options.rootDir, 'checkpoints');
  const archive = `checkpoint-${podName}_${namespace}-${name}-${formatTime(context.clock.now())}.tar`;
  const location = join(directory, archive);
  const { containers } = await agent.cache.get(uidOf(pod));
  const running = containers.find((container) => container.name === name && container.state === 'running');
  try {
    if (!running) throw new Error(`container ${name} not found`);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await runtime.checkpointContainer({ containerId: running.id, location, timeout });
  } catch (error) {
    const reason = error instanceof CriError ? error.toString() : (error as Error).message;
    throw new HttpError(500, `checkpointing of ${namespace}/${podName}/${name} failed (${reason})`);
  }
  json(response, { items: [location] });
}
