import { linkSignals, type Run, type RunContext } from '@tinkernetes/component-base';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { ensureIdentity, rotateIdentity, type NodeIdentity } from './bootstrap/client-certificate';
import { PluginRegistrar } from './devices/plugin-registrar';
import { nodesOf, staggered, startingAtOnce } from './light-nodes';
import { accessOfLightNodes, accessOfNode, type ApiAccess } from './node/api-access';
import { SharedRuntime } from './node/shared-runtime';
import { StepForwarder } from './node/step-forwarder';
import { NodeAgent } from './node-agent';
import { makeDirectory } from './make-directory';
import type { Options } from './options';
import { PodResources } from './pod-resources/pod-resources';
import { KubeletEndpoint } from './server/endpoint';
import { onMachineShutdown } from './shutdown/shutdown-signal';

/** Timers can't be longer than 24.8 days. */
const longestSleepMs = 12 * 3600_000;
/** A new certificate is asked for after this share of the old one's lifetime. */
const rotateAfter = 0.8;

/** In percent; V8 would let garbage be most of the memory of thousands of Pods. */
const lightHeapGrowth = 25;

/** What the nodes of one process have in common. */
interface Common {
  shared: Promise<SharedRuntime>;
  endpoint: Promise<KubeletEndpoint>;
  forwarder: StepForwarder;
  registrar: PluginRegistrar;
  podResources: PodResources;
  /** Undefined where each has an identity of its own. */
  access: Promise<ApiAccess | undefined>;
}

export const run: Run<Options> = async (options, outer) => {
  if (options.nodes !== undefined) setFlagsFromString(`--heap-growing-percent=${lightHeapGrowth}`);
  const { clock, logger, tracer } = outer;
  // A node that can't go on takes the others of this process with it: whoever supervises it starts all of them again.
  const failed = new AbortController();
  const { signal, release } = linkSignals(outer.signal, failed.signal);
  const context = { ...outer, signal };
  await makeDirectory(options.rootDir);
  const forwarder = new StepForwarder(clock, logger);
  tracer.exportTo((steps) => forwarder.send(steps));
  // Certificates and the runtime don't wait for each other.
  const shared = SharedRuntime.connect(options, { ...context, ...ofItsOwn(signal) }, forwarder);
  const following = shared.then((runtime) => runtime.run());
  const endpoint = KubeletEndpoint.create(options, context);
  const nodes = nodesOf(options);
  let starting = nodes.length;
  const access = accessOfLightNodes(options, context);
  const registrar = new PluginRegistrar({
    directory: join(options.rootDir, 'device-plugins'),
    logger,
    ...ofItsOwn(signal),
  });
  const podResources = new PodResources({ rootDir: options.rootDir, logger, ...ofItsOwn(signal) });
  const common = { shared, endpoint, forwarder, registrar, podResources, access };
  const running: Promise<unknown>[] = [following, endpoint, access];
  try {
    await Promise.all([
      ...running,
      staggered(nodes, startingAtOnce, (node, started) => {
        const ready = (info?: Record<string, unknown>) => {
          started();
          if (--starting === 0) context.ready(info);
        };
        const ended = runIdentities(node, { ...context, ...ofItsOwn(signal), ready }, common);
        running.push(ended);
        return ended;
      }),
    ]);
  } catch (error) {
    if (!outer.signal.aborted) {
      failed.abort(error);
      await Promise.allSettled(running);
      throw error;
    }
  } finally {
    release();
    await Promise.all([
      shared.then(
        (runtime) => runtime.close(),
        (error: unknown) => logger.debug({ err: error }, 'no runtime was found'),
      ),
      access.then(
        (common) => common?.close(),
        (error: unknown) => logger.debug({ err: error }, 'there was no kubeconfig'),
      ),
    ]);
  }
};

/**
 * A signal with few listeners: adding one takes the longer the more there are, and each call adds one for as long as it
 * takes.
 */
const ofItsOwn = (signal: AbortSignal) => ({ signal: linkSignals(signal).signal });

/**
 * A new client certificate means new connections everywhere: the agent starts over, which no container notices. What
 * light nodes share is its giver's to renew.
 */
async function runIdentities(options: Options, context: RunContext, common: Common): Promise<void> {
  await makeDirectory(options.rootDir);
  const access = await common.access;
  if (access) return runNode(options, context, { ...common, access });
  let identity = await ensureIdentity(options, context);
  let announced = false;
  while (!context.signal.aborted) {
    const session = new AbortController();
    const { signal } = linkSignals(context.signal, session.signal);
    const ready = (info?: Record<string, unknown>) => {
      if (!announced) context.ready(info);
      announced = true;
    };
    const own = accessOfNode(identity.config, options, { ...context, signal });
    let rotated: NodeIdentity | undefined;
    try {
      const work = runNode(options, { ...context, signal, ready }, { ...common, access: own });
      const next = rotation(identity, options, { ...context, signal });
      rotated = await Promise.race([work.then(() => undefined), next]);
      session.abort(new Error('client certificate renewed'));
      await Promise.all([work, next]);
    } finally {
      session.abort(new Error('the node has ended'));
      await own.close();
    }
    if (!rotated) return;
    context.logger.info({ node: options.nodeName }, 'client certificate renewed');
    identity = rotated;
  }
}

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

async function runNode(
  options: Options,
  context: RunContext,
  {
    access,
    endpoint,
    shared,
    forwarder,
    registrar,
    podResources,
  }: Omit<Common, 'access'> & { access: ApiAccess },
): Promise<void> {
  const { logger, tracer, signal } = context;
  const { client, watch } = access;
  forwarder.use(client);
  try {
    const runtime = await shared;
    const current: { agent?: NodeAgent } = {};
    const server = await (
      await endpoint
    ).listen({
      options,
      context,
      client,
      runtime: runtime.runtime,
      dialer: runtime.dialer,
      agent: () => current.agent,
    });
    const agent = new NodeAgent({
      options,
      context,
      client,
      watch,
      shared: runtime,
      registrar,
      podResources,
      port: server.port,
    });
    current.agent = agent;
    context.ready({ port: server.port });
    const ignored = onMachineShutdown(options, () => void agent.shutDown());
    try {
      await agent.run();
    } finally {
      ignored();
      await server.close();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await forwarder.flush();
    await tracer.flush().catch((error: unknown) => logger.debug({ err: error }, 'spans not sent'));
  }
}
