import type { KeyValue, StorageEvent } from '../types';
import { text } from './collect';

/** A version of a key in the model; the value as text. */
export interface ModelVersion {
  key: string;
  value: string;
  createRevision: number;
  modRevision: number;
  version: number;
}

/** The obvious implementation of the contract: the whole state of every revision. */
export class ReferenceModel {
  private readonly states: ReadonlyMap<string, ModelVersion>[] = [];
  readonly events: string[] = [];

  constructor(readonly firstRevision: number) {
    this.states.push(new Map());
  }

  get revision(): number {
    return this.firstRevision + this.states.length - 1;
  }

  at(revision: number): ReadonlyMap<string, ModelVersion> {
    return this.states[revision - this.firstRevision] ?? new Map();
  }

  current(key: string): ModelVersion | undefined {
    return this.at(this.revision).get(key);
  }

  range(prefix: string, revision = this.revision): ModelVersion[] {
    return [...this.at(revision).values()]
      .filter(({ key }) => key.startsWith(prefix))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  put(key: string, value: string): ModelVersion {
    const before = this.current(key);
    const modRevision = this.revision + 1;
    const made = {
      key,
      value,
      createRevision: before?.createRevision ?? modRevision,
      modRevision,
      version: (before?.version ?? 0) + 1,
    };
    this.states.push(new Map(this.at(this.revision)).set(key, made));
    this.events.push(`PUT ${show(made)} was ${show(before)}`);
    return made;
  }

  delete(key: string): void {
    const before = this.current(key);
    const next = new Map(this.at(this.revision));
    next.delete(key);
    this.states.push(next);
    this.events.push(`DELETE ${key}@${this.revision} was ${show(before)}`);
  }
}

export function show(version: ModelVersion | undefined): string {
  if (!version) return 'nothing';
  const { key, value, createRevision, modRevision, version: writes } = version;
  return `${key}=${value}@${modRevision} (created ${createRevision}, write ${writes})`;
}

export function asModel(item: KeyValue | undefined): ModelVersion | undefined {
  if (!item) return undefined;
  const { key, createRevision, modRevision, version } = item;
  return { key, value: text(item) ?? '', createRevision, modRevision, version };
}

export function showEvent({ type, key, revision, current, previous }: StorageEvent): string {
  const what = type === 'PUT' ? show(asModel(current)) : `${key}@${revision}`;
  return `${type} ${what} was ${show(asModel(previous))}`;
}
