import type { Container, ObjectMeta, Pod } from '@tinkernetes/api';
import { goQuote } from '@tinkernetes/apimachinery';

export type PodSpec = NonNullable<Pod['spec']>;
export type PodMetadata = Pick<ObjectMeta, 'annotations'>;
export type Level = 'privileged' | 'baseline' | 'restricted';

/** What a Pod does that the level forbids. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/**
 * One rule of the Pod Security Standards; the words are those of upstream's checks.
 * Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */
export interface Check {
  /** Upstream's id; checks run in its order. */
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Baseline checks that this restricted one replaces. */
  readonly overrides?: readonly string[];
  /** The first minor version of the standards that has it. */
  readonly since?: number;
  /** `minor`: the version of the standards that is asked for; Infinity: the latest. */
  run(spec: PodSpec, metadata: PodMetadata, minor: number): Violation | undefined;
}

/** All containers in the order in which upstream visits them. */
export const containersOf = (spec: PodSpec): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...((spec.ephemeralContainers ?? []) as readonly Container[]),
];

export const namesWhere = (spec: PodSpec, test: (container: Container) => boolean): string[] =>
  containersOf(spec)
    .filter(test)
    .map((c) => c.name);

export const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many);
export const joinQuote = (values: readonly string[]): string => values.map(goQuote).join(', ');
export const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

/** `container "a"`, `containers "a", "b"`. */
export const containersNamed = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${joinQuote(names)}`;

/** `pod and container "a"`: whoever set something, undefined when nobody did. */
export function setters(pod: boolean, containers: readonly string[]): string | undefined {
  const who = [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [containersNamed(containers)] : [])];
  return who.length > 0 ? who.join(' and ') : undefined;
}

export const isWindows = (spec: PodSpec): boolean => spec.os?.name === 'windows';
/** A Pod in a user namespace of its own is root of nothing else, which newer standards know. */
export const mayBeRoot = (spec: PodSpec, minor: number): boolean => minor >= 35 && spec.hostUsers === false;
