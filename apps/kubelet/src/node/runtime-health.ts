import { withLinkedSignal, type Clock, type Logger } from '@tinkernetes/component-base';
import type { NodeStatus } from '@tinkernetes/api';
import { isCriError, type RuntimeClient, type StatusResponse } from '@tinkernetes/cri';

/** What the runtime can do, as the Node's status says it. */
export type RuntimeOffers = Pick<NodeStatus, 'features' | 'runtimeHandlers'>;

export interface RuntimeHealthDeps {
  runtime: RuntimeClient;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Told when anything of the health changed. */
  onChange(): void;
}

const firstCheckMs = 25;
const slowestCheckMs = 1000;
/** A runtime that only takes its time is not down before. Source: pkg/kubelet maxWaitForContainerRuntime. */
const patienceMs = 30_000;

/**
 * Whether the runtime and its network are ready. Looked at when something has happened that may change it, and again and
 * again only while it is not ready.
 */
export class RuntimeHealth {
  private runtimeError: string | undefined = 'container runtime status check may not have completed yet';
  private networkError: string | undefined =
    'container runtime network not ready: status check may not have completed yet';
  private podCIDR = '';
  /** What the runtime did not take; it gets it again when it answers. */
  private refusedCIDR: string | undefined;
  private checking: Promise<void> | undefined;
  private again = false;
  private answeredAt = -Infinity;
  private isLate = false;
  private pause: AbortController | undefined;
  private offers: RuntimeOffers = {};

  constructor(private readonly deps: RuntimeHealthDeps) {}

  /** Why no Pods can run; undefined when they can. */
  get notReady(): string | undefined {
    return this.runtimeError ?? this.networkError;
  }

  /** Pods in the host's network need only the runtime itself. */
  get runtimeNotReady(): string | undefined {
    return this.runtimeError;
  }

  get networkNotReady(): string | undefined {
    return this.networkError;
  }

  /** Hands the node's Pod range to the runtime, whose CNI configuration waits for it. */
  async setPodCIDR(podCIDR: string): Promise<void> {
    if (this.podCIDR === podCIDR) return;
    this.podCIDR = podCIDR;
    this.refusedCIDR = undefined;
    try {
      await this.deps.runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: podCIDR } } });
    } catch (error) {
      this.podCIDR = '';
      this.refusedCIDR = podCIDR;
      throw error;
    }
    this.deps.logger.info({ podCIDR }, 'pod CIDR handed to the runtime');
    this.check();
  }

  /** The runtime was found dead or alive by other means. */
  report(error: Error | undefined): void {
    if (error) this.failed(error);
    else if (this.runtimeError) this.check();
  }

  check(): void {
    this.again = true;
    this.pause?.abort(new Error('asked to look now'));
    this.checking ??= this.run().finally(() => (this.checking = undefined));
  }

  async settled(): Promise<void> {
    await this.checking;
  }

  private async run(): Promise<void> {
    const { clock, signal, logger } = this.deps;
    for (let delay = firstCheckMs; !signal.aborted; delay = Math.min(delay * 2, slowestCheckMs)) {
      this.again = false;
      await this.ask();
      if (this.again) continue;
      if (this.notReady === undefined && !this.isLate) return;
      this.pause = new AbortController();
      try {
        await withLinkedSignal([signal, this.pause.signal], (ended) => clock.sleep(delay, ended));
      } catch (error) {
        if (!signal.aborted && !this.again) logger.error({ err: error }, 'runtime health check ended');
      }
      this.pause = undefined;
    }
  }

  private async ask(): Promise<void> {
    this.isLate = false;
    try {
      const answer = await this.deps.runtime.status({}, { signal: this.deps.signal, timeoutMs: 10_000 });
      const { status } = answer;
      this.offers = offersOf(answer);
      this.answeredAt = this.deps.clock.monotonic();
      const verdict = (type: string, subject: string) => {
        const condition = status?.conditions.find((c) => c.type === type);
        if (condition?.status) return undefined;
        return `${subject} not ready: ${type}=false reason:${condition?.reason ?? 'Unknown'} message:${condition?.message ?? ''}`;
      };
      this.set(
        verdict('RuntimeReady', 'container runtime'),
        verdict('NetworkReady', 'container runtime network'),
      );
      if (this.refusedCIDR !== undefined) await this.handOverAgain(this.refusedCIDR);
    } catch (error) {
      if (!this.deps.signal.aborted) this.failed(error);
    }
  }

  private async handOverAgain(podCIDR: string): Promise<void> {
    try {
      await this.setPodCIDR(podCIDR);
    } catch (error) {
      if (!this.deps.signal.aborted)
        this.deps.logger.warn({ err: error }, 'could not hand the pod CIDR to the runtime');
    }
  }

  private failed(error: unknown): void {
    const isSlow = isCriError(error, 'DEADLINE_EXCEEDED');
    this.isLate = isSlow && this.deps.clock.monotonic() - this.answeredAt < patienceMs;
    if (this.isLate) return;
    const message = error instanceof Error ? error.message : String(error);
    this.set(`container runtime is down: ${message}`, this.networkError);
  }

  get offered(): RuntimeOffers {
    return this.offers;
  }

  private set(runtimeError: string | undefined, networkError: string | undefined): void {
    if (runtimeError === this.runtimeError && networkError === this.networkError) return;
    this.runtimeError = runtimeError;
    this.networkError = networkError;
    this.deps.onChange();
  }
}

/** Source: pkg/kubelet/nodestatus RuntimeHandlers, Features. */
function offersOf({ runtimeHandlers, features }: StatusResponse): RuntimeOffers {
  const { supplementalGroupsPolicy } = features ?? {};
  return {
    ...(features ? { features: { supplementalGroupsPolicy } } : {}),
    ...(runtimeHandlers.length > 0
      ? {
          runtimeHandlers: runtimeHandlers.map(({ name, features: able }) => ({
            name,
            features: {
              recursiveReadOnlyMounts: able?.recursiveReadOnlyMounts ?? false,
              userNamespaces: able?.userNamespaces ?? false,
            },
          })),
        }
      : {}),
  };
}
