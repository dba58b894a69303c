import { baselineChecks } from './baseline-checks';
import type { Check, Level, PodMetadata, PodSpec, Violation } from './check';
import { restrictedChecks } from './restricted-checks';

/** A level of the standards as of a version of them: `restricted:latest`, `baseline:v1.25`. */
export interface LevelVersion {
  readonly level: Level;
  readonly version: string;
}

export const describeLevel = ({ level, version }: LevelVersion): string => `${level}:${version}`;

const overridden = new Set(restrictedChecks.flatMap((check) => check.overrides ?? []));
const checksOf: Readonly<Record<Level, readonly Check[]>> = {
  privileged: [],
  baseline: baselineChecks,
  restricted: [...baselineChecks.filter((check) => !overridden.has(check.id)), ...restrictedChecks],
};

/** What the Pod does that the level forbids, in the order of upstream's checks. */
export function evaluate(
  { level, version }: LevelVersion,
  spec: PodSpec,
  metadata: PodMetadata,
): Violation[] {
  const minor = version === 'latest' ? Infinity : Number(version.slice('v1.'.length));
  return checksOf[level].flatMap((check) =>
    (check.since ?? 0) > minor ? [] : (check.run(spec, metadata) ?? []),
  );
}

/** `privileged (container "c" must not …), hostPort (…)` */
export const describeViolations = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail ? `${reason} (${detail})` : reason)).join(', ');
