import { createClient } from '@tinkernetes/client';
import { linkSignals, type FinishedStep, type Run, type RunContext } from '@tinkernetes/component-base';
import { createImageClient, createRuntimeClient } from '@tinkernetes/cri';
import { createVnetClient, hostDialer, type VnetClient } from '@tinkernetes/vnet';
import { mkdir } from 'node:fs/promises';
import { ensureIdentity, rotateIdentity, type NodeIdentity } from './bootstrap/client-certificate';
import { describeMachine } from './node/machine';
import { StepForwarder } from './node/step-forwarder';
import { NodeAgent } from './node-agent';
import type { Options } from './options';
import { startServer } from './server/server';

/** Timers can't be longer than 24.8 days. */
const longestSleepMs = 12 * 3600_000;
/** A new certificate is asked for after this share of the old one's lifetime. */
const rotateAfter = 0.8;

export const run: Run<Options> = async (options, context) => {
  await mkdir(options.rootDir, { recursive: true });
  let identity = await ensureIdentity(options, context);
  let announced = false;
  // A new client certificate means new connections everywhere: the agent starts over, which no container notices.
  while (!context.signal.aborted) {
    const session = new AbortController();
    const { signal } = linkSignals(context.signal, session.signal);
    const ready = (info?: Record<string, unknown>) => {
      if (!announced) context.ready(info);
      announced = true;
    };
    const work = runNode(options, { ...context, signal, ready }, identity);
    const next = rotation(identity, options, { ...context, signal });
    const rotated = await Promise.race([work.then(() => undefined), next]);
    session.abort(new Error('client certificate renewed'));
    await Promise.all([work, next]);
    if (!rotated) return;
    context.logger.info({ node: options.nodeName }, 'client certificate renewed');
    identity = rotated;
  }
};

/** Resolves with the next identity when it is time for one, with undefined when the signal aborts first. */
async function rotation(
  identity: NodeIdentity,
  options: Options,
  context: RunContext,
): Promise<NodeIdentity | undefined> {
  const { clock, signal } = context;
  const started = clock.now();
  const lifetime = (identity.expiresAt ?? Infinity) - started;
  try {
    for (;;) {
      const left = started + lifetime * rotateAfter - clock.now();
      if (left <= 0) return await rotateIdentity(identity, options, context);
      await clock.sleep(Math.min(left, longestSleepMs), signal);
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function runNode(options: Options, context: RunContext, { config }: NodeIdentity): Promise<void> {
  const { clock, logger, tracer, signal } = context;
  const client = createClient(config, { clock });
  const forwarder = new StepForwarder(client, clock, logger);
  const calls = {
    timeoutMs: options.runtimeRequestTimeoutMs,
    signal,
    onSteps: (steps: readonly FinishedStep[]) => forwarder.forward(steps),
  };
  const runtime = createRuntimeClient(options.runtimeEndpoint, calls);
  const images = createImageClient(options.imageEndpoint, calls);
  const vnet = options.vnetEndpoint ? createVnetClient(options.vnetEndpoint) : undefined;
  const dialer = vnet ?? hostDialer;
  tracer.exportTo((steps) => forwarder.send(steps));
  try {
    const [machine, version, overlayEndpoint] = await Promise.all([
      describeMachine(options),
      runtime.version({}, { waitForReady: true, signal, timeoutMs: 0 }),
      overlayOf(vnet),
    ]);
    logger.info({ runtime: version.runtimeName, version: version.runtimeVersion }, 'container runtime found');
    const current: { agent?: NodeAgent } = {};
    const server = await startServer({
      options,
      context,
      client,
      runtime,
      dialer,
      agent: () => current.agent,
    });
    const agent = new NodeAgent({
      options,
      context,
      client,
      runtime,
      images,
      version,
      dialer,
      machine,
      overlayEndpoint,
      port: server.port,
    });
    current.agent = agent;
    context.ready({ port: server.port });
    try {
      await agent.run();
    } finally {
      await server.close();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await forwarder.flush();
    await tracer.flush().catch((error: unknown) => logger.debug({ err: error }, 'spans not sent'));
    vnet?.close();
    images.close();
    runtime.close();
    client.close();
  }
}

async function overlayOf(vnet: VnetClient | undefined): Promise<string | undefined> {
  return vnet ? (await vnet.getNode()).overlayEndpoint || undefined : undefined;
}
