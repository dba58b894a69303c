import {
  FlowSchemas,
  loadBootstrapObjects,
  PriorityLevelConfigurations,
  type FlowSchema,
  type KubeObject,
  type PriorityLevelConfiguration,
} from '@tinkernetes/api';
import { deepEqual, isNotFound } from '@tinkernetes/apimachinery';
import { formatTime, type Timer } from '@tinkernetes/component-base';
import { createUnlessThere } from '../bootstrap/bootstrap-objects';
import type { ResourceStore, ServerDependencies } from '../contracts';
import { byPrecedence, distinguisherOf, matches, type RequestDigest } from './classification';
import { PriorityLevel, spareSeats } from './priority-level';

/** Configuration that is always there, whatever happens to its objects. */
const mandatory: ReadonlySet<string> = new Set(['exempt', 'catch-all']);

/** The objects' status is nobody's hurry: a start has better things to do. */
const statusDelayMs = 3000;
const consumer = {
  fieldManager: 'api-priority-and-fairness-config-consumer-v1',
  operation: 'Apply',
  subresource: 'status',
} as const;

/** Where a request belongs. */
export interface Classification {
  readonly schema: FlowSchema;
  readonly level: PriorityLevel;
  readonly levelUid: string;
  readonly flow: string;
}

/** Follows FlowSchemas and PriorityLevelConfigurations: what is limited how, and which requests are of which kind. */
export class FlowController {
  private readonly levels = new Map<string, { level: PriorityLevel; uid: string }>();
  private schemas: readonly FlowSchema[] = [];
  private readonly flowSchemas: ResourceStore<FlowSchema & KubeObject>;
  private readonly configurations: ResourceStore<PriorityLevelConfiguration & KubeObject>;
  private unsubscribe: (() => void)[] = [];
  private statusTimer: Timer | undefined;
  private work: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly deps: ServerDependencies,
    /** Seats of the whole server. */
    private readonly seats: number,
  ) {
    this.flowSchemas = deps.stores.for(FlowSchemas);
    this.configurations = deps.stores.for(PriorityLevelConfigurations);
  }

  start(): void {
    this.digest();
    this.unsubscribe = [
      this.flowSchemas.onChange((event) => this.changed(this.flowSchemas, 'flowschemas', event)),
      this.configurations.onChange((event) =>
        this.changed(this.configurations, 'prioritylevelconfigurations', event),
      ),
    ];
    this.statusLater(statusDelayMs);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    for (const stop of this.unsubscribe) stop();
    this.statusTimer?.cancel();
    await this.work;
  }

  allLevels(): Iterable<PriorityLevel> {
    return [...this.levels.values()].map(({ level }) => level);
  }

  classify(digest: RequestDigest): Classification | undefined {
    const schema = this.schemas.find((candidate) => matches(candidate, digest));
    const found = schema && this.levels.get(schema.spec.priorityLevelConfiguration.name);
    if (!found) return undefined;
    const flow = `${schema.metadata.name ?? ''}/${distinguisherOf(schema, digest)}`;
    return { schema, level: found.level, levelUid: found.uid, flow };
  }

  private changed<T extends KubeObject>(
    store: ResourceStore<T>,
    resource: string,
    { type, object, old }: { type: string; object: T; old?: T },
  ): void {
    const isStatusOnly = type === 'MODIFIED' && old?.metadata.generation === object.metadata.generation;
    if (isStatusOnly) return;
    this.digest();
    this.statusLater(0);
    if (type === 'DELETED' && mandatory.has(object.metadata.name))
      this.restore(store, resource, object.metadata.name);
  }

  /** Takes the configuration over. */
  private digest(): void {
    const configurations = withMandatory('prioritylevelconfigurations', this.configurations.list());
    const sharesOf = ({ spec }: PriorityLevelConfiguration) =>
      (spec.type === 'Exempt' ? spec.exempt : spec.limited)?.nominalConcurrencyShares ?? 0;
    const total = configurations.reduce((sum, c) => sum + sharesOf(c), 0);
    const gone = new Set(this.levels.keys());
    for (const configuration of configurations) {
      const { name = '', uid = '' } = configuration.metadata;
      gone.delete(name);
      const level = this.levels.get(name)?.level ?? this.newLevel(name);
      this.levels.set(name, { level, uid });
      level.configure(configuration.spec, Math.ceil((this.seats * sharesOf(configuration)) / (total || 1)));
    }
    for (const name of gone) this.levels.delete(name);
    this.schemas = withMandatory('flowschemas', this.flowSchemas.list())
      .filter(({ spec }) => this.levels.has(spec.priorityLevelConfiguration.name))
      .sort(byPrecedence);
  }

  private newLevel(name: string): PriorityLevel {
    return new PriorityLevel(name, this.deps.context.clock, (level) => spareSeats(this.allLevels(), level));
  }

  private restore<T extends KubeObject>(store: ResourceStore<T>, resource: string, name: string): void {
    const object = loadBootstrapObjects()[resource]?.find(({ metadata }) => metadata.name === name);
    if (object) this.enqueue(() => createUnlessThere(store as ResourceStore, object));
  }

  private statusLater(ms: number): void {
    this.statusTimer?.cancel();
    const run = () => this.enqueue(() => this.writeStatus());
    this.statusTimer = this.deps.context.clock.setTimeout(run, ms, { unref: true });
  }

  private enqueue(work: () => Promise<void>): void {
    this.work = this.work.then(work).catch((error: unknown) => {
      // What a stop has cut off is done after the next start.
      if (!this.isStopped) this.deps.context.logger.warn({ err: error }, 'flow control not kept');
    });
  }

  private async writeStatus(): Promise<void> {
    const now = formatTime(this.deps.context.clock.now());
    for (const schema of this.flowSchemas.list()) {
      if (this.isStopped) return;
      if (this.withStatus(schema, now) === schema) continue;
      await this.flowSchemas
        .modify(schema.metadata.name, undefined, (current) => this.withStatus(current, now), consumer)
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
    }
  }

  /** Whether the level that it refers to exists; the same object where that is said already. */
  private withStatus<T extends FlowSchema>(schema: T, now: string): T {
    const { name } = schema.spec.priorityLevelConfiguration;
    const isDangling = !this.levels.has(name);
    const before = schema.status?.conditions?.find(({ type }) => type === 'Dangling');
    const text = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`;
    const wanted = {
      status: isDangling ? 'True' : 'False',
      reason: isDangling ? 'NotFound' : 'Found',
      message: `${text} ${isDangling ? 'but there is no such object' : 'and it exists'}`,
    };
    if (before && deepEqual({ ...before, ...wanted }, before)) return schema;
    const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : now;
    const conditions = [{ type: 'Dangling', ...wanted, lastTransitionTime }];
    return { ...schema, status: { ...schema.status, conditions } };
  }
}

/** The objects, and those that have to be there and are not. */
function withMandatory<T extends FlowSchema | PriorityLevelConfiguration>(
  resource: string,
  present: readonly T[],
): T[] {
  const names = new Set(present.map(({ metadata }) => metadata.name));
  const missing = [...mandatory].filter((name) => !names.has(name));
  if (missing.length === 0) return [...present];
  const facts = (loadBootstrapObjects()[resource] ?? []) as unknown as T[];
  return [...present, ...facts.filter(({ metadata }) => missing.includes(metadata.name ?? ''))];
}
