import type { Environment } from '@marcbachmann/cel-js';

const type = 'kubernetes.Semver';
const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** `kubernetes.Semver`. */
export class Semver {
  constructor(
    readonly core: readonly number[],
    readonly pre: readonly string[],
  ) {}

  static tryParse(text: string): Semver | undefined {
    const [, major, minor, patch, pre] = pattern.exec(text) ?? [];
    return major === undefined
      ? undefined
      : new Semver([Number(major), Number(minor), Number(patch)], pre?.split('.') ?? []);
  }

  /** Precedence by semver.org, item 11. */
  compare(other: Semver): number {
    for (const [i, part] of this.core.entries()) {
      const difference = part - (other.core[i] ?? 0);
      if (difference !== 0) return Math.sign(difference);
    }
    if (this.pre.length === 0 || other.pre.length === 0) {
      return Math.sign(other.pre.length - this.pre.length) * (this.pre.length === other.pre.length ? 0 : 1);
    }
    for (let i = 0; i < Math.max(this.pre.length, other.pre.length); i++) {
      const order = comparePre(this.pre[i], other.pre[i]);
      if (order !== 0) return order;
    }
    return 0;
  }
}

function comparePre(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [x, y] = [a, b].map((part) => (/^\d+$/.test(part) ? Number(part) : undefined));
  if (x !== undefined && y !== undefined) return Math.sign(x - y);
  if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Without `v` and zeros before numbers, and with all three numbers. */
function normalized(text: string): string {
  const [, numbers = '', rest = ''] = /^v?([\d.]*)(.*)$/s.exec(text) ?? [];
  const parts = numbers.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3) parts.push('0');
  return parts.join('.') + rest;
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-semver-library */
export function registerSemver(env: Environment): void {
  env.registerType(type, { ctor: Semver as unknown as new () => Semver, fields: {} });
  env.registerFunction('isSemver(string): bool', (text: string) => Semver.tryParse(text) !== undefined);
  env.registerFunction(`semver(string): ${type}`, (text: string) => {
    const version = Semver.tryParse(text);
    if (!version)
      throw new Error(`semver parse error during conversion from string: ${JSON.stringify(text)}`);
    return version;
  });
  const normal = (text: string, isLoose: boolean) => (isLoose ? normalized(text) : text);
  env.registerFunction(
    'isSemver(string, bool): bool',
    (text: string, isLoose: boolean) => Semver.tryParse(normal(text, isLoose)) !== undefined,
  );
  env.registerFunction(`semver(string, bool): ${type}`, (text: string, isLoose: boolean) => {
    const version = Semver.tryParse(normal(text, isLoose));
    if (!version)
      throw new Error(`semver parse error during conversion from string: ${JSON.stringify(text)}`);
    return version;
  });
  for (const [i, name] of ['major', 'minor', 'patch'].entries()) {
    env.registerFunction(`${type}.${name}(): int`, (version: Semver) => BigInt(version.core[i] ?? 0));
  }
  env.registerFunction(`${type}.isGreaterThan(${type}): bool`, (a: Semver, b: Semver) => a.compare(b) > 0);
  env.registerFunction(`${type}.isLessThan(${type}): bool`, (a: Semver, b: Semver) => a.compare(b) < 0);
  env.registerFunction(`${type}.compareTo(${type}): int`, (a: Semver, b: Semver) => BigInt(a.compare(b)));
  env.registerOperator(`${type} == ${type}`, (a: Semver, b: Semver) => a.compare(b) === 0);
}
