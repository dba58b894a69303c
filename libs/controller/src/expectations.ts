import type { Clock } from '@tinkernetes/component-base';

/** After this an expectation counts as fulfilled: an event was lost, or a write failed without our knowing. */
const timeoutMs = 5 * 60_000;

interface Expectation {
  creations: number;
  /** Deletions by the key of the object that was deleted: its watch may tell of it twice (modified, then deleted). */
  deletions: Set<string>;
  setAt: number;
}

/**
 * What a controller has asked for and not yet seen in its cache, by the key of the owner: until then it must not count
 * its children, or it would create them again. Source: k8s.io/kubernetes/pkg/controller UIDTrackingControllerExpectations.
 */
export class ControllerExpectations {
  private readonly byOwner = new Map<string, Expectation>();

  constructor(private readonly clock: Clock) {}

  /** True when the owner may be reconciled. */
  satisfied(owner: string): boolean {
    const expectation = this.byOwner.get(owner);
    if (!expectation) return true;
    if (expectation.creations <= 0 && expectation.deletions.size === 0) return true;
    return this.clock.monotonic() - expectation.setAt > timeoutMs;
  }

  expectCreations(owner: string, count: number): void {
    this.entry(owner).creations = count;
  }

  expectDeletions(owner: string, children: readonly string[]): void {
    const entry = this.entry(owner);
    entry.deletions = new Set(children);
  }

  /** Also to be called for each creation that failed or was never tried. */
  creationObserved(owner: string): void {
    const expectation = this.byOwner.get(owner);
    if (expectation) expectation.creations--;
  }

  /** Also to be called for each deletion that failed. */
  deletionObserved(owner: string, child: string): void {
    this.byOwner.get(owner)?.deletions.delete(child);
  }

  /** The owner is gone. */
  forget(owner: string): void {
    this.byOwner.delete(owner);
  }

  private entry(owner: string): Expectation {
    const known = this.byOwner.get(owner);
    const pending = known && (known.creations > 0 || known.deletions.size > 0);
    const entry: Expectation = pending ? known : { creations: 0, deletions: new Set(), setAt: 0 };
    entry.setAt = this.clock.monotonic();
    this.byOwner.set(owner, entry);
    return entry;
  }
}
