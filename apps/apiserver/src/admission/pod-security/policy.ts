import { invalid, mapKey, type FieldError } from '@tinkernetes/apimachinery';
import type { Level } from './check';
import type { LevelVersion } from './evaluate';

const prefix = 'pod-security.kubernetes.io/';
const levels: readonly string[] = ['privileged', 'baseline', 'restricted'] satisfies Level[];

export type Mode = 'enforce' | 'audit' | 'warn';

/** What a namespace's labels ask for; `errors` tells of labels that say nothing sensible. */
export interface Policy extends Readonly<Record<Mode, LevelVersion>> {
  readonly errors: readonly FieldError[];
}

/** Source: https://kubernetes.io/docs/concepts/security/pod-security-admission/#pod-security-admission-labels-for-namespaces */
export function policyOf(labels: Readonly<Record<string, string>> = {}): Policy {
  const errors: FieldError[] = [];
  const mode = (name: Mode): LevelVersion => {
    const level = labels[prefix + name];
    const version = labels[`${prefix}${name}-version`];
    let parsed: LevelVersion = { level: 'privileged', version: 'latest' };
    if (level !== undefined) {
      if (levels.includes(level)) parsed = { ...parsed, level: level as Level };
      else {
        errors.push(invalid(labelPath(prefix + name), level, `must be one of ${levels.join(', ')}`));
        // What nobody understands is enforced strictly, and warned of not at all.
        if (name === 'enforce') parsed = { ...parsed, level: 'restricted' };
      }
    }
    if (version !== undefined) {
      if (/^(latest|v1\.(0|[1-9]\d*))$/.test(version)) parsed = { ...parsed, version };
      else errors.push(invalid(labelPath(`${prefix}${name}-version`), version, 'must be "latest" or "v1.x"'));
    }
    return parsed;
  };
  return { enforce: mode('enforce'), audit: mode('audit'), warn: mode('warn'), errors };
}

const labelPath = (label: string): string => mapKey('metadata.labels', label);
