import { Leases, type Lease } from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import {
  formatMicroTime,
  jitter,
  withLinkedSignal,
  type Clock,
  type Logger,
  type Random,
} from '@tinkernetes/component-base';
import type { EventRecorder } from './types';

export interface LeaderElectionOptions {
  client: Client;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Stop standing for election; a held lease is released, so that another candidate need not wait for its end. */
  signal: AbortSignal;
  /** The Lease's name, e.g. `kube-scheduler`, and namespace (default kube-system). */
  lease: { name: string; namespace?: string };
  /** Unique among candidates: host name and a UID. */
  identity: string;
  /** What only the leader does. Its signal aborts when leadership is lost or the election is stopped. */
  lead: (signal: AbortSignal) => Promise<void>;
  /** A candidate may take a lease over that was not renewed for so long. */
  leaseDurationMs?: number;
  /** The leader steps down when it could not renew for so long. */
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  /** Called when leadership is gained and lost: `leader_election_master_status`. */
  onStatus?: (isLeader: boolean) => void;
  /** Tells on the Lease who becomes leader and stops leading. */
  recorder?: EventRecorder;
}

/** The lease was held and then could not be kept: whoever led must stop at once; upstream's components exit. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
}

/**
 * Candidates look at a lease after 0.8 to 1 retry periods, and when it runs out: each takes it over within two periods of
 * its end. (Upstream's look after 1 to 2.2 periods, and only then.)
 */
const shortestShare = 0.8;
const jitterFactor = 0.25;

/**
 * Waits for the lease, leads, and keeps the lease renewed meanwhile. Resolves after the signal aborts or `lead` ends,
 * with the lease released; rejects with LeadershipLostError when it could not be renewed, or with `lead`'s own error.
 * Other candidates' clocks are not trusted: only the time since a change of the lease was seen here counts.
 * Source: k8s.io/client-go/tools/leaderelection.
 */
export async function runLeaderElection(options: LeaderElectionOptions): Promise<void> {
  const elector = new LeaderElector(options);
  options.onStatus?.(false);
  if (!(await elector.acquire())) return;
  options.onStatus?.(true);
  const leading = new AbortController();
  const onAbort = () => leading.abort(options.signal.reason);
  options.signal.addEventListener('abort', onAbort, { once: true });
  if (options.signal.aborted) onAbort();
  const renewing = elector.renewUntil(leading.signal).then((lost) => {
    if (lost) leading.abort(lost);
    return lost;
  });
  const [led] = await Promise.allSettled([options.lead(leading.signal)]);
  options.signal.removeEventListener('abort', onAbort);
  leading.abort(new Error('no longer leading'));
  const lost = await renewing;
  options.onStatus?.(false);
  elector.tell('stopped leading');
  if (lost) throw lost;
  await elector.release();
  if (led.status === 'rejected') throw led.reason;
}

class LeaderElector {
  private readonly leases;
  private readonly namespace: string;
  private readonly leaseDurationMs: number;
  private readonly renewDeadlineMs: number;
  private readonly retryPeriodMs: number;
  private observed: Lease | undefined;
  private observedAt = 0;
  /** `observed` is the newest version as far as we know, so it may be written without a read before. */
  private versionKnown = false;

  constructor(private readonly options: LeaderElectionOptions) {
    this.leases = options.client.for(Leases);
    this.namespace = options.lease.namespace ?? 'kube-system';
    this.leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.retryPeriodMs = options.retryPeriodMs ?? 2000;
  }

  /** True when the lease is ours; false when the signal aborted first. */
  async acquire(): Promise<boolean> {
    const { signal, logger, random, lease, identity } = this.options;
    const fields = { lease: `${this.namespace}/${lease.name}`, identity };
    logger.info(fields, 'attempting to acquire leader lease');
    while (!signal.aborted) {
      if (await this.tryAcquireOrRenew(signal)) {
        logger.info(fields, 'successfully acquired lease');
        this.tell('became leader');
        return true;
      }
      const pauseMs = jitter(random, this.retryPeriodMs * shortestShare, jitterFactor);
      await this.pause(Math.min(pauseMs, this.untilExpiryMs()), signal);
    }
    return false;
  }

  /** Undefined when the signal aborted; the error when the lease could not be renewed in time. */
  async renewUntil(signal: AbortSignal): Promise<LeadershipLostError | undefined> {
    const { clock, lease } = this.options;
    let renewedAt = clock.monotonic();
    for (;;) {
      await this.pause(this.retryPeriodMs, signal);
      if (signal.aborted) return undefined;
      const left = renewedAt + this.renewDeadlineMs - clock.monotonic();
      const deadline = new AbortController();
      const timer = clock.setTimeout(
        () => deadline.abort(new Error('renew deadline passed')),
        Math.max(0, left),
      );
      const renewed = await withLinkedSignal([signal, deadline.signal], (limit) =>
        this.tryAcquireOrRenew(limit),
      );
      timer.cancel();
      if (signal.aborted) return undefined;
      if (renewed) renewedAt = clock.monotonic();
      else if (clock.monotonic() - renewedAt >= this.renewDeadlineMs) {
        return new LeadershipLostError(
          `leader election lost: ${this.namespace}/${lease.name} could not be renewed`,
        );
      }
    }
  }

  /** An Event on the Lease, worded as upstream's. */
  tell(what: 'became leader' | 'stopped leading'): void {
    const { recorder, identity } = this.options;
    if (!recorder || !this.observed) return;
    const lease = { ...this.observed, apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
    recorder.event(lease, 'Normal', 'LeaderElection', `${identity} ${what}`);
  }

  async release(): Promise<void> {
    const { logger, identity, clock } = this.options;
    const held = this.observed;
    if (held?.spec.holderIdentity !== identity) return;
    const now = formatMicroTime(clock.now());
    const spec = {
      ...held.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: now,
      acquireTime: now,
    };
    try {
      this.observe(await this.leases.update({ ...held, spec }));
    } catch (error) {
      logger.warn({ err: error }, 'failed to release the lease; it will expire');
    }
  }

  private async tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.attempt(signal);
    } catch (error) {
      if (!signal.aborted) this.options.logger.debug({ err: error }, 'lease not acquired or renewed');
      // Whatever we believed of the lease may be old: read it first next time.
      this.versionKnown = false;
      return false;
    }
  }

  private async attempt(signal: AbortSignal): Promise<boolean> {
    const { identity } = this.options;
    if (this.observed?.spec.holderIdentity === identity && this.isValid() && this.versionKnown) {
      return this.write(this.observed, signal);
    }
    const lease = await this.read(signal);
    if (!lease) return this.createLease(signal);
    if (lease.metadata.resourceVersion !== this.observed?.metadata.resourceVersion) this.observe(lease);
    this.versionKnown = true;
    const holder = lease.spec.holderIdentity;
    if (holder && holder !== identity && this.isValid()) return false;
    return this.write(lease, signal);
  }

  private async read(signal: AbortSignal): Promise<Lease | undefined> {
    const { lease } = this.options;
    return this.leases.get(lease.name, { namespace: this.namespace, signal }).catch(ignoreNotFound);
  }

  private async createLease(signal: AbortSignal): Promise<boolean> {
    const now = formatMicroTime(this.options.clock.now());
    const created = await this.leases.create(
      {
        metadata: { name: this.options.lease.name, namespace: this.namespace },
        spec: { ...this.holding(now), acquireTime: now, leaseTransitions: 0 },
      },
      { signal },
    );
    this.observe(created);
    return true;
  }

  private async write(lease: Lease, signal: AbortSignal): Promise<boolean> {
    const now = formatMicroTime(this.options.clock.now());
    const mine = lease.spec.holderIdentity === this.options.identity;
    const spec = {
      ...this.holding(now),
      acquireTime: mine ? lease.spec.acquireTime : now,
      leaseTransitions: (lease.spec.leaseTransitions ?? 0) + (mine ? 0 : 1),
    };
    this.observe(await this.leases.update({ ...lease, spec }, { signal }));
    return true;
  }

  private holding(renewTime: string) {
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: Math.ceil(this.leaseDurationMs / 1000),
      renewTime,
    };
  }

  private observe(lease: Lease): void {
    this.observed = lease;
    this.observedAt = this.options.clock.monotonic();
    this.versionKnown = true;
  }

  /** Whether the lease's holder may still count on it. */
  private isValid(): boolean {
    return this.leftMs() > 0;
  }

  private leftMs(): number {
    const seconds = this.observed?.spec.leaseDurationSeconds ?? 0;
    return this.observedAt + seconds * 1000 - this.options.clock.monotonic();
  }

  /** Until another's lease runs out; Infinity when it has, or when nothing is known of one. */
  private untilExpiryMs(): number {
    const left = this.leftMs();
    return left > 0 ? left : Infinity;
  }

  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.options.clock.sleep(ms, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
