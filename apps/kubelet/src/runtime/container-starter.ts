import type { Container, Pod, Secret } from '@tinkernetes/api';
import type { Clock, Logger, StepTracer, TraceParent } from '@tinkernetes/component-base';
import type { DeepPartial, Mount, PodSandboxConfig, RuntimeClient } from '@tinkernetes/cri';
import type { ContainerDevices } from '../devices/container-devices';
import { ContainerConfigError, type Environment } from '../environment/environment';
import type { ImageManager, ReadyImage } from '../images/image-manager';
import { podText, uidOf } from '../pods/pod-facts';
import { BackOff, durationText } from './back-off';
import { containerConfig } from './container-config';
import { containerHash } from './container-hash';
import type { ContainerKiller } from './container-killer';
import type { ContainerResizer } from './container-resizer';
import type { ImageVolumes } from './image-volumes';
import { runHook, type HookDeps } from './lifecycle-hooks';
import type { PodCache } from './pod-cache';
import type { PodEvents } from './pod-events';
import { findContainer, type PodRuntimeStatus } from './pod-runtime-status';
import { podStep } from './pod-step';
import { verifyRunAsNonRoot } from './security-context';
import { StartError } from './start-error';
import { unlessAborted } from './unless-aborted';

/** What the rest of the kubelet contributes to a container. */
export interface PodInputs {
  sandbox(pod: Pod, attempt: number): DeepPartial<PodSandboxConfig>;
  environment(pod: Pod, container: Container, podIPs: readonly string[]): Promise<Environment>;
  mounts(
    pod: Pod,
    container: Container,
    podIPs: readonly string[],
  ): Promise<ReadonlyArray<DeepPartial<Mount>>>;
  devices(pod: Pod, container: Container): Promise<ContainerDevices>;
}

export interface ContainerStarterDeps extends HookDeps {
  runtime: RuntimeClient;
  images: ImageManager;
  cache: PodCache;
  killer: ContainerKiller;
  resizer: ContainerResizer;
  inputs: PodInputs;
  events: PodEvents;
  clock: Clock;
  logger: Logger;
  tracer: StepTracer;
  nodeName: string;
  memoryCapacity: number;
  maxCrashBackOffMs: number;
}

/** Where and how a container is started. */
export interface StartTarget {
  sandboxId: string;
  config: DeepPartial<PodSandboxConfig>;
  podIPs: readonly string[];
  /** The number of this run. */
  attempt: number;
  pullSecrets: readonly Secret[];
  imageVolumes: ImageVolumes;
  trace: TraceParent | undefined;
  /** The Pod has to end. */
  signal: AbortSignal;
  /** The Pod before this sync. */
  status: PodRuntimeStatus;
}

const initialCrashBackOffMs = 10_000;

/** Starts containers: back-off, image, configuration, create, start, postStart. Source: pkg/kubelet/kuberuntime startContainer. */
export class ContainerStarter {
  private readonly backOff: BackOff;

  constructor(private readonly deps: ContainerStarterDeps) {
    this.backOff = new BackOff(deps.clock, initialCrashBackOffMs, deps.maxCrashBackOffMs);
  }

  /** Throws StartError with what the container's status is to say. */
  async start(pod: Pod, container: Container, target: StartTarget): Promise<void> {
    // The status is from before this sync: of a container that was just killed, it is the run before that ended last.
    const ended = target.status.containers.find((c) => c.name === container.name && c.state === 'exited');
    this.checkBackOff(pod, container, ended?.finishedAt);
    await this.run(pod, container, target);
  }

  forget(pod: Pod): void {
    this.backOff.forget(uidOf(pod));
    this.deps.images.forget(pod);
  }

  /** Throws CrashLoopBackOff while the container has to wait after its end at `finishedAt`. */
  checkBackOff(pod: Pod, container: Container, finishedAt: number | undefined): void {
    if (finishedAt === undefined) return;
    const key = `${uidOf(pod)}_${container.name}_${containerHash(container)}`;
    const retryAfterMs = this.backOff.remaining(key, finishedAt);
    if (retryAfterMs > 0) {
      const delay = durationText(this.backOff.delay(key));
      this.deps.events.container(pod, container.name, {
        type: 'Warning',
        reason: 'BackOff',
        message: `Back-off restarting failed container ${container.name} in pod ${podText(pod)}`,
      });
      throw new StartError(
        'CrashLoopBackOff',
        `back-off ${delay} restarting failed container=${container.name} pod=${podText(pod)}`,
        { retryAfterMs },
      );
    }
    this.backOff.next(key, finishedAt);
  }

  private async run(pod: Pod, container: Container, at: StartTarget): Promise<void> {
    const { runtime, images, events, inputs, cache, tracer } = this.deps;
    const step = podStep(this.deps.nodeName, pod, at.trace, { container: container.name });
    const failed = (error: unknown, message = String(error)) => {
      events.container(pod, container.name, {
        type: 'Warning',
        reason: 'Failed',
        message: `Error: ${message}`,
      });
      return message;
    };
    let ready: ReadyImage;
    let volumeImages: ReadonlyMap<string, string>;
    try {
      // A pull that nobody waits for any more goes on: the image may be wanted again.
      volumeImages = await unlessAborted(at.signal, at.imageVolumes.of(container));
      const found = images.ensure({
        pod,
        image: container.image ?? '',
        pullPolicy: container.imagePullPolicy,
        container: container.name,
        sandboxConfig: at.config,
        pullSecrets: at.pullSecrets,
        traceParent: at.trace,
      });
      ready = await unlessAborted(at.signal, found);
    } catch (error) {
      if (error instanceof StartError) failed(error, error.reason);
      throw error;
    }
    const target = container as Container & { targetContainerName?: string };
    const config = await tracer
      .step('kubelet.containerconfig', step, async () => {
        verifyRunAsNonRoot(pod, container, ready.user);
        return containerConfig(pod, container, {
          attempt: at.attempt,
          image: ready.image,
          imageUser: ready.user,
          env: await inputs.environment(pod, container, at.podIPs),
          mounts: withImages(await inputs.mounts(pod, container, at.podIPs), volumeImages),
          devices: await inputs.devices(pod, container),
          memoryCapacity: this.deps.memoryCapacity,
          targetId: target.targetContainerName
            ? findContainer(at.status, target.targetContainerName)?.id
            : undefined,
        });
      })
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (!(error instanceof ContainerConfigError)) {
          this.deps.logger.warn(
            { pod: podText(pod), container: container.name, err: error },
            'no container config',
          );
        }
        throw new StartError('CreateContainerConfigError', failed(error, message), { cause: error });
      });
    const containerId = await runtime
      .createContainer(
        { podSandboxId: at.sandboxId, config, sandboxConfig: at.config },
        { traceParent: at.trace },
      )
      .then(
        (answer) => answer.containerId,
        (error: unknown) => {
          cache.invalidate(uidOf(pod));
          throw new StartError('CreateContainerError', failed(error, messageOf(error)), { cause: error });
        },
      );
    cache.expect(uidOf(pod), containerId, 'created');
    this.deps.resizer.started(containerId, pod, container);
    events.container(pod, container.name, { reason: 'Created', message: 'Container created' });
    tracer.record('kubelet.metadata', {
      ...step,
      startMs: this.deps.clock.now(),
      attributes: {
        container: container.name,
        containerId,
        sandboxId: at.sandboxId,
        logPath: config.logPath ?? '',
      },
    });
    cache.expect(uidOf(pod), containerId, 'running');
    await runtime.startContainer({ containerId }, { traceParent: at.trace }).catch((error: unknown) => {
      cache.failed(uidOf(pod), containerId);
      throw new StartError('RunContainerError', failed(error, messageOf(error)), { cause: error });
    });
    events.container(pod, container.name, { reason: 'Started', message: 'Container started' });
    const { trace, signal } = at;
    await this.postStart(pod, container, { containerId, podIP: at.podIPs[0] ?? '', trace, signal });
  }

  private async postStart(
    pod: Pod,
    container: Container,
    at: { containerId: string; podIP: string; trace: TraceParent | undefined; signal: AbortSignal },
  ): Promise<void> {
    const handler = container.lifecycle?.postStart;
    const { cache, killer, events, logger, tracer } = this.deps;
    const step = podStep(this.deps.nodeName, pod, at.trace, {
      container: container.name,
      postStart: handler !== undefined,
      probes: probeNames(container),
    });
    if (!handler) {
      tracer.record('kubelet.hooks', { ...step, startMs: this.deps.clock.now() });
      return;
    }
    try {
      await tracer.step('kubelet.hooks', step, () =>
        runHook(handler, { pod, container, ...at }, { ...this.deps, signal: at.signal }),
      );
    } catch (error) {
      at.signal.throwIfAborted();
      logger.warn({ pod: podText(pod), container: container.name, err: error }, 'postStart hook failed');
      events.container(pod, container.name, {
        type: 'Warning',
        reason: 'FailedPostStartHook',
        message: 'PostStartHook failed',
      });
      const status = await cache.get(uidOf(pod));
      const target = status.containers.find((c) => c.id === at.containerId);
      if (target) await killer.kill(pod, target, at.podIP, { message: 'FailedPostStartHook' });
      throw new StartError('PostStartHookError', messageOf(error), {
        cause: error,
        retryAfterMs: unhookedRetryMs,
      });
    }
  }
}

/** Image volumes by what the runtime calls the images. */
const withImages = (
  mounts: ReadonlyArray<DeepPartial<Mount>>,
  images: ReadonlyMap<string, string>,
): ReadonlyArray<DeepPartial<Mount>> =>
  mounts.map((mount) => {
    const { image: reference } = mount.image ?? {};
    const image = reference && images.get(reference);
    return image ? { ...mount, image: { image, userSpecifiedImage: reference } } : mount;
  });

/** What ended is looked at again this soon, as upstream's PLEG would; the container's back-off is on top. */
const unhookedRetryMs = 1000;

/** The runtime's own text, as upstream puts it into events. */
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Which probes begin now, e.g. `startup, readiness`. */
const probeNames = ({ startupProbe, livenessProbe, readinessProbe }: Container): string =>
  [startupProbe && 'startup', livenessProbe && 'liveness', readinessProbe && 'readiness']
    .filter(Boolean)
    .join(', ');
