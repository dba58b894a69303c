import { CriError, type PodSandboxConfig } from '@tinkernetes/cri';
import type { Container } from './container';
import { PodIndex } from './pod-index';
import type { SandboxRecord } from './records';

/** The node's sandboxes and containers, found by id, by the beginning of one, by Pod and by name. */
export class RuntimeIndex {
  readonly sandboxes = new Map<string, SandboxRecord>();
  readonly containers = new Map<string, Container>();
  /** A runtime that many nodes share has tens of thousands: none of them is looked for among all. */
  private readonly bySandbox = new Map<string, Set<Container>>();
  private readonly sandboxesByPod = new PodIndex<SandboxRecord>();
  private readonly containersByPod = new PodIndex<Container>();
  private readonly sandboxNames = new Map<string, string>();

  sandbox(id: string): SandboxRecord {
    const found = this.sandboxes.get(id) ?? onlyOne(this.sandboxes, id);
    if (!found)
      throw new CriError('NOT_FOUND', `an error occurred when try to find sandbox "${id}": not found`);
    return found;
  }

  container(id: string): Container {
    const found = this.containers.get(id) ?? onlyOne(this.containers, id);
    if (!found)
      throw new CriError('NOT_FOUND', `an error occurred when try to find container "${id}": not found`);
    return found;
  }

  containersOf(sandboxId: string): Container[] {
    return [...(this.bySandbox.get(sandboxId) ?? [])];
  }

  /** All that the selector may match, and not many more. */
  sandboxesFor(labelSelector: Readonly<Record<string, string>> | undefined): Iterable<SandboxRecord> {
    return this.sandboxesByPod.candidates(labelSelector) ?? this.sandboxes.values();
  }

  /** All that the selector may match, and not many more. */
  containersFor(labelSelector: Readonly<Record<string, string>> | undefined): Iterable<Container> {
    return this.containersByPod.candidates(labelSelector) ?? this.containers.values();
  }

  addSandbox(record: SandboxRecord): void {
    this.sandboxes.set(record.id, record);
    this.sandboxesByPod.add(record.config.labels, record);
    this.sandboxNames.set(nameOf(record.config), record.id);
  }

  forgetSandbox(record: SandboxRecord): void {
    const { id, config } = record;
    this.sandboxes.delete(id);
    this.sandboxesByPod.delete(config.labels, record);
    this.bySandbox.delete(id);
    if (this.sandboxNames.get(nameOf(config)) === id) this.sandboxNames.delete(nameOf(config));
  }

  addContainer(container: Container): void {
    const { id, sandboxId, config } = container.record;
    this.containers.set(id, container);
    this.containersByPod.add(config.labels, container);
    const own = this.bySandbox.get(sandboxId);
    if (own) own.add(container);
    else this.bySandbox.set(sandboxId, new Set([container]));
  }

  forgetContainer(container: Container): void {
    const { id, sandboxId, config } = container.record;
    this.containers.delete(id);
    this.containersByPod.delete(config.labels, container);
    this.bySandbox.get(sandboxId)?.delete(container);
  }

  /** The sandbox that has a configuration's name. */
  sandboxNamed(config: PodSandboxConfig): string | undefined {
    return this.sandboxNames.get(nameOf(config));
  }
}

function onlyOne<T>(map: ReadonlyMap<string, T>, prefix: string): T | undefined {
  if (prefix === '') return undefined;
  const found = [...map].filter(([id]) => id.startsWith(prefix));
  return found.length === 1 ? found[0]?.[1] : undefined;
}

/** What no two sandboxes share. */
export const nameOf = ({ metadata }: PodSandboxConfig): string =>
  `${metadata?.name}_${metadata?.namespace}_${metadata?.uid}_${metadata?.attempt}`;
