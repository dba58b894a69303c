import type { CacheEvent } from './cache-event';

const initialCapacity = 128;
/**
 * So many of the latest events keep their frames, which take as much as the objects, for watchers whose events have to be
 * converted first. All others have theirs when the event comes; older events are for those who come back, one by one.
 */
const framedEvents = 64;

/** The most recent events of one resource, in revision order. Grows to `capacity`, then forgets the oldest. */
export class EventRing {
  private slots: (CacheEvent | undefined)[] = [];
  private start = 0;
  private count = 0;

  constructor(
    private readonly capacity: number,
    /** Events up to this revision are not here (the revision of the first load). */
    private oldest: number,
  ) {}

  /** Watches may resume from this revision or a later one. */
  get oldestResumable(): number {
    return this.oldest;
  }

  push(event: CacheEvent): void {
    this.add(event);
    if (this.count > framedEvents) this.at(this.count - 1 - framedEvents)?.releaseFrames();
  }

  private add(event: CacheEvent): void {
    if (this.count === this.slots.length) this.grow();
    if (this.count === this.capacity) {
      this.oldest = this.slots[this.start]?.revision ?? this.oldest;
      this.slots[this.start] = event;
      this.start = (this.start + 1) % this.slots.length;
      return;
    }
    this.slots[(this.start + this.count) % this.slots.length] = event;
    this.count++;
  }

  /** Events after `revision`; undefined when some of them are gone. */
  since(revision: number): CacheEvent[] | undefined {
    if (revision < this.oldest) return undefined;
    const out: CacheEvent[] = [];
    for (let i = this.count - 1; i >= 0; i--) {
      const event = this.at(i);
      if (!event || event.revision <= revision) break;
      out.push(event);
    }
    return out.reverse();
  }

  reset(revision: number): void {
    this.slots = [];
    this.start = 0;
    this.count = 0;
    this.oldest = revision;
  }

  private at(i: number): CacheEvent | undefined {
    return this.slots[(this.start + i) % this.slots.length];
  }

  private grow(): void {
    if (this.slots.length >= this.capacity) return;
    const next = Math.min(this.capacity, Math.max(initialCapacity, this.slots.length * 2));
    const moved = Array.from({ length: this.count }, (_, i) => this.at(i));
    this.slots = [...moved, ...new Array<undefined>(next - moved.length)];
    this.start = 0;
  }
}
