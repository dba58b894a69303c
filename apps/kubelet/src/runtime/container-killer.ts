import type { Container, Pod } from '@tinkernetes/api';
import type { Clock, Logger } from '@tinkernetes/component-base';
import { isCriError, type RuntimeClient } from '@tinkernetes/cri';
import { allContainers, isSidecar, podText, uidOf } from '../pods/pod-facts';
import type { KillReason } from './container-kill';
import { runHook, type HookDeps } from './lifecycle-hooks';
import type { PodCache } from './pod-cache';
import type { PodEvents } from './pod-events';
import {
  hasReadySandbox,
  runningContainers,
  type PodRuntimeStatus,
  type RuntimeContainer,
} from './pod-runtime-status';

export interface KillOptions {
  reason?: KillReason;
  /** Text of the Killing event; left out: `Stopping container NAME`. */
  message?: string;
  /** Goes before what the Pod asks for. */
  gracePeriodSeconds?: number;
  /** What has to end before the container is told to; it settles. */
  turn?: Promise<unknown>;
}

export interface KillerDeps extends HookDeps {
  runtime: RuntimeClient;
  cache: PodCache;
  events: PodEvents;
  clock: Clock;
  logger: Logger;
}

/** A container always gets this long after its preStop hook. Source: pkg/kubelet/kuberuntime minimumGracePeriodInSeconds. */
const minimumGraceSeconds = 2;

/** Stops containers: preStop hook, stop signal, grace period, SIGKILL. */
export class ContainerKiller {
  constructor(private readonly deps: KillerDeps) {}

  async kill(pod: Pod, target: RuntimeContainer, podIP: string, options: KillOptions = {}): Promise<void> {
    const { cache, clock, events, runtime } = this.deps;
    const container = allContainers(pod).find((c) => c.container.name === target.name)?.container;
    const grace = gracePeriodSeconds(pod, container, options);
    events.container(pod, target.name, {
      reason: 'Killing',
      message: options.message ?? `Stopping container ${target.name}`,
    });
    const started = clock.monotonic();
    if (container?.lifecycle?.preStop && grace > 0 && target.state === 'running') {
      await this.preStop(pod, container, target, { podIP, graceMs: grace * 1000 });
    }
    if (options.turn) await this.waitForTurn(options.turn, grace * 1000 - (clock.monotonic() - started));
    const spent = Math.floor((clock.monotonic() - started) / 1000);
    const left =
      options.gracePeriodSeconds === undefined
        ? Math.max(grace - spent, minimumGraceSeconds)
        : Math.max(grace - spent, Math.min(grace, minimumGraceSeconds));
    cache.expect(uidOf(pod), target.id, 'exited');
    try {
      await runtime.stopContainer(
        { containerId: target.id, timeout: left },
        { timeoutBesidesMs: left * 1000 },
      );
    } catch (error) {
      cache.failed(uidOf(pod), target.id);
      if (!isCriError(error, 'NOT_FOUND')) throw error;
    }
  }

  /**
   * Regular containers together, then sidecars from the last to the first, all within one grace period; then the sandbox.
   * Hooks do not wait for anybody's turn. Source: pkg/kubelet/kuberuntime killContainersWithSyncResult.
   */
  async killPod(pod: Pod, status: PodRuntimeStatus, options: KillOptions = {}): Promise<void> {
    const podIP = status.ips[0] ?? '';
    const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).map((c) => c.name);
    const running = runningContainers(status);
    let ended: Promise<unknown> = Promise.all(
      running.filter((c) => !sidecars.includes(c.name)).map((c) => this.kill(pod, c, podIP, options)),
    );
    for (const name of sidecars.reverse()) {
      const target = running.find((c) => c.name === name);
      if (!target) continue;
      const turn = ended.catch(() => undefined);
      ended = Promise.all([ended, this.kill(pod, target, podIP, { ...options, turn })]);
    }
    await ended;
    if (!hasReadySandbox(status)) return;
    await Promise.all(
      status.sandboxes.filter((s) => s.state === 'SANDBOX_READY').map((s) => this.stopSandbox(pod, s.id)),
    );
  }

  private async waitForTurn(turn: Promise<unknown>, graceMs: number): Promise<void> {
    const done = new AbortController();
    const late = this.deps.clock.sleep(Math.max(0, graceMs), done.signal).catch(() => undefined);
    await Promise.race([turn, late]);
    done.abort(new Error('it is its turn'));
  }

  private async stopSandbox(pod: Pod, podSandboxId: string): Promise<void> {
    const { cache, runtime } = this.deps;
    cache.expect(uidOf(pod), podSandboxId, 'exited');
    try {
      await runtime.stopPodSandbox({ podSandboxId });
    } catch (error) {
      cache.failed(uidOf(pod), podSandboxId);
      throw error;
    }
  }

  private async preStop(
    pod: Pod,
    container: Container,
    target: RuntimeContainer,
    { podIP, graceMs }: { podIP: string; graceMs: number },
  ): Promise<void> {
    const handler = container.lifecycle?.preStop;
    if (!handler) return;
    const done = new AbortController();
    const hook = runHook(
      handler,
      { pod, container, containerId: target.id, podIP },
      { ...this.deps, signal: done.signal },
    );
    try {
      await Promise.race([hook, this.deps.clock.sleep(graceMs, done.signal)]);
    } catch (error) {
      this.deps.logger.warn(
        { pod: podText(pod), container: container.name, err: error },
        'preStop hook failed',
      );
      this.deps.events.container(pod, container.name, {
        type: 'Warning',
        reason: 'FailedPreStopHook',
        message: `PreStopHook failed`,
      });
    } finally {
      done.abort(new Error('the grace period is over'));
      hook.catch(() => undefined);
    }
  }
}

export function gracePeriodSeconds(pod: Pod, container: Container | undefined, options: KillOptions): number {
  if (options.gracePeriodSeconds !== undefined) return options.gracePeriodSeconds;
  if (pod.metadata.deletionGracePeriodSeconds !== undefined) return pod.metadata.deletionGracePeriodSeconds;
  const probe =
    options.reason === 'liveness'
      ? container?.livenessProbe
      : options.reason === 'startup'
        ? container?.startupProbe
        : undefined;
  return (
    probe?.terminationGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? minimumGraceSeconds
  );
}
