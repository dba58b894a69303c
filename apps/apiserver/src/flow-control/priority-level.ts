import type { PriorityLevelConfigurationSpec } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import { FairQueues, type QueuingOptions, type Waiting } from './fair-queues';

/** Why a request is turned away, in upstream's words. */
export type Rejection = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

export class RejectedError extends Error {
  override readonly name = 'RejectedError';
  constructor(readonly reason: Rejection) {
    super(reason);
  }
}

interface WaitingRequest extends Waiting {
  start(finished: (ms: number) => void): void;
}

/** Ends a request: its seats are free again. Further calls do nothing. */
export type Release = () => void;

/** A request waits this long at most. */
const waitLimitMs = 15_000;

/** Seats that other levels do not need now. */
export type SpareSeats = (level: PriorityLevel) => number;

/**
 * Requests of one priority: so many seats, and queues for those that find none. Source:
 * https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
export class PriorityLevel {
  /** Seats that are its own; Infinity where it is exempt. */
  nominalSeats = Infinity;
  executing = 0;
  executingSeats = 0;
  private spec: PriorityLevelConfigurationSpec = { type: 'Exempt' };
  private queues: FairQueues<WaitingRequest> | undefined;

  constructor(
    readonly name: string,
    private readonly clock: Clock,
    private readonly spare: SpareSeats,
  ) {}

  /** What waits goes on to wait, in the new queues. */
  configure(spec: PriorityLevelConfigurationSpec, nominalSeats: number): void {
    const options = queuingOptions(spec);
    const isSame = JSON.stringify(options) === JSON.stringify(queuingOptions(this.spec));
    this.spec = spec;
    this.nominalSeats = spec.type === 'Exempt' ? Infinity : nominalSeats;
    if (!isSame) {
      const before = this.queues?.all() ?? [];
      this.queues = options && new FairQueues(options);
      for (const request of before) if (!this.queues?.add(request)) request.start(() => undefined);
    }
    this.dispatch();
  }

  get waiting(): number {
    return this.queues?.length ?? 0;
  }

  /** Seats that others may use while it does not need them. */
  get lendableSeats(): number {
    const { limited } = this.spec;
    return this.isExempt ? 0 : Math.round((this.nominalSeats * (limited?.lendablePercent ?? 0)) / 100);
  }

  /** Seats beyond its own that it may use. */
  get borrowableSeats(): number {
    const percent = this.spec.limited?.borrowingLimitPercent;
    return percent === undefined ? Infinity : Math.round((this.nominalSeats * percent) / 100);
  }

  get isExempt(): boolean {
    return this.nominalSeats === Infinity;
  }

  /** At once where there are seats; otherwise when it is its turn. Throws (or rejects with) RejectedError. */
  enter(flow: string, seats: number, gone: (onGone: () => void) => void): Release | Promise<Release> {
    if (this.waiting === 0 && this.hasRoom(seats)) return this.start(seats);
    if (!this.queues) throw new RejectedError('concurrency-limit');
    return this.wait(this.queues, { flow, seats }, gone);
  }

  private wait(
    queues: FairQueues<WaitingRequest>,
    { flow, seats }: Waiting,
    gone: (onGone: () => void) => void,
  ): Promise<Release> {
    return new Promise((resolve, reject) => {
      const request: WaitingRequest = {
        flow,
        seats,
        start: (finished) => {
          timer.cancel();
          resolve(this.start(seats, finished));
        },
      };
      if (!queues.add(request)) {
        reject(new RejectedError('queue-full'));
        return;
      }
      const leave = (reason: Rejection) => {
        timer.cancel();
        this.queues?.remove(request);
        reject(new RejectedError(reason));
      };
      const timer = this.clock.setTimeout(() => leave('time-out'), waitLimitMs, { unref: true });
      gone(() => leave('cancelled'));
    });
  }

  private start(seats: number, finished?: (ms: number) => void): Release {
    const startedAt = this.clock.monotonic();
    this.executing++;
    this.executingSeats += seats;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.executing--;
      this.executingSeats -= seats;
      finished?.(this.clock.monotonic() - startedAt);
      if (this.waiting > 0) this.dispatch();
    };
  }

  /** Lets those through whose turn it is, while there are seats. */
  private dispatch(): void {
    for (let next = this.queues?.peek(); next && this.hasRoom(next.seats); next = this.queues?.peek()) {
      const taken = this.queues?.take();
      taken?.request.start(taken.finished);
    }
  }

  /** What takes more seats than there are runs alone. */
  private hasRoom(seats: number): boolean {
    const wanted = this.executingSeats + seats;
    if (wanted <= this.nominalSeats || this.executing === 0) return true;
    return wanted <= this.nominalSeats + Math.min(this.borrowableSeats, this.spare(this));
  }
}

function queuingOptions({ limited }: PriorityLevelConfigurationSpec): QueuingOptions | undefined {
  const { type, queuing } = limited?.limitResponse ?? {};
  if (type !== 'Queue') return undefined;
  return {
    queues: queuing?.queues ?? 64,
    handSize: queuing?.handSize ?? 8,
    queueLengthLimit: queuing?.queueLengthLimit ?? 50,
  };
}

/**
 * Seats that a level may borrow now: what the others lend and do not use, less what is borrowed already. Upstream
 * computes this every ten seconds, here it is when somebody needs it; a lender gets its own seats back at once, so that
 * for as long as borrowed requests last there may be more requests than seats.
 */
export function spareSeats(levels: Iterable<PriorityLevel>, borrower: PriorityLevel): number {
  let spare = 0;
  for (const level of levels) {
    if (level === borrower || level.isExempt) continue;
    const unused = level.nominalSeats - level.executingSeats - level.waiting;
    spare +=
      unused > 0
        ? Math.min(level.lendableSeats, unused)
        : Math.min(0, level.nominalSeats - level.executingSeats);
  }
  return Math.max(0, spare);
}
