import { baselineChecks } from './baseline-checks';
import type { Check, Level, PodMetadata, PodSpec, Violation } from './check';
import { restrictedChecks } from './restricted-checks';

/** A level of the standards as of a version of them: `restricted:latest`, `baseline:v1.25`. */
export interface LevelVersion {
  readonly level: Level;
  readonly version: string;
}

export const describeLevel = ({ level, version }: LevelVersion): string => `${level}:${version}`;

function checksOf(level: Level, minor: number): readonly Check[] {
  if (level === 'privileged') return [];
  const exists = ({ since = 0 }: Check) => since <= minor;
  const baseline = baselineChecks.filter(exists);
  if (level === 'baseline') return baseline;
  const restricted = restrictedChecks.filter(exists);
  const overridden = new Set(restricted.flatMap((check) => check.overrides ?? []));
  return [...baseline.filter((check) => !overridden.has(check.id)), ...restricted];
}

/** What the Pod does that the level forbids, in the order of upstream's checks. */
export function evaluate(
  { level, version }: LevelVersion,
  spec: PodSpec,
  metadata: PodMetadata,
): Violation[] {
  const minor = version === 'latest' ? Infinity : Number(version.slice('v1.'.length));
  return checksOf(level, minor).flatMap((check) => check.run(spec, metadata, minor) ?? []);
}

/** `privileged (container "c" must not …), hostPort (…)` */
export const describeViolations = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail ? `${reason} (${detail})` : reason)).join(', ');
