import type { Plugin } from './types';

/** What a plugin remembers of one scheduling cycle. Copied before preemption is tried out on it. */
export interface StateData {
  clone(): StateData;
}

/** Scratch memory of one scheduling cycle. */
export class CycleState {
  private readonly data = new Map<string, StateData>();
  /** Plugins whose Filter has nothing to do for this Pod. */
  readonly skipFilter = new Set<string>();
  readonly skipScore = new Set<string>();
  /** The plugins whose Filter has something to do, once PreFilter has found out. */
  filters: readonly Plugin[] | undefined;

  read<T extends StateData>(key: string): T | undefined {
    return this.data.get(key) as T | undefined;
  }

  write(key: string, value: StateData): void {
    this.data.set(key, value);
  }

  clone(): CycleState {
    const copy = new CycleState();
    for (const [key, value] of this.data) copy.data.set(key, value.clone());
    for (const name of this.skipFilter) copy.skipFilter.add(name);
    for (const name of this.skipScore) copy.skipScore.add(name);
    copy.filters = this.filters;
    return copy;
  }
}
