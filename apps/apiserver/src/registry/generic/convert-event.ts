import type { KubeObject } from '@tinkernetes/api';

type Fields = Record<string, unknown>;

/** Names of the same field in core/v1 and in events.k8s.io/v1. */
const renamed: readonly [core: string, events: string][] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const toEvents = new Map(renamed);
const toCore = new Map(renamed.map(([core, events]) => [events, core]));

/** Fields that core/v1 shows also where they are empty, and events.k8s.io/v1 does not. */
const alwaysInCore: ReadonlySet<string> = new Set(['reportingComponent', 'reportingInstance']);

/** An Event between core/v1, as it is stored, and events.k8s.io/v1. */
export function convertEvent(object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  const names = apiVersion === 'v1' ? toCore : toEvents;
  const { kind, apiVersion: _, metadata, ...rest } = object as KubeObject & Fields;
  const fields = Object.fromEntries(
    Object.entries(rest)
      .filter(([name, value]) => value !== '' || names === toCore || !alwaysInCore.has(name))
      .map(([name, value]) => [names.get(name) ?? name, value]),
  );
  return { kind, apiVersion, metadata, ...fields } as KubeObject;
}
