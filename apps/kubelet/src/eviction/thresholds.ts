import { Quantity } from '@tinkernetes/apimachinery';
import { parseDuration, UsageError } from '@tinkernetes/component-base';

/** Most urgent first. */
export const signals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;
export type Signal = (typeof signals)[number];
export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

interface Meaning {
  condition: PressureCondition;
  resource: 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';
}
const storage: Meaning = { condition: 'DiskPressure', resource: 'ephemeral-storage' };
const inodes: Meaning = { condition: 'DiskPressure', resource: 'inodes' };

/** What a signal stands for: the Node's condition and the resource that runs out. */
export const meaningOf: Record<Signal, Meaning> = {
  'memory.available': { condition: 'MemoryPressure', resource: 'memory' },
  'nodefs.available': storage,
  'nodefs.inodesFree': inodes,
  'imagefs.available': storage,
  'imagefs.inodesFree': inodes,
  'containerfs.available': storage,
  'containerfs.inodesFree': inodes,
  'pid.available': { condition: 'PIDPressure', resource: 'pids' },
};

/** A fixed amount, or a share of the capacity. */
export type Amount = { quantity: Quantity } | { share: number };

/** Eviction begins where less than this is available. */
export interface Threshold {
  signal: Signal;
  value: Amount;
  /** How long a soft threshold has to be crossed; 0: a hard one. */
  gracePeriodMs: number;
  /** Once crossed, so much more has to become available. */
  minReclaim?: Amount;
}

export interface Observation {
  available: number;
  capacity: number;
}

/** `memory.available<100Mi`, `nodefs.available<10%`, `memory.available=1m30s`, as flags have them. */
export interface ThresholdFlags {
  hard: readonly string[];
  soft?: readonly string[];
  gracePeriods?: readonly string[];
  minimumReclaim?: readonly string[];
}

/** Source: pkg/kubelet/eviction/helpers.go ParseThresholdConfig. */
export function parseThresholds({
  hard,
  soft = [],
  gracePeriods = [],
  minimumReclaim = [],
}: ThresholdFlags): Threshold[] {
  const grace = new Map(
    gracePeriods.map((text) => {
      const { signal, value } = split('--eviction-soft-grace-period', text, '=');
      const ms = parseDuration(value);
      if (ms === undefined || ms <= 0)
        throw new UsageError(`--eviction-soft-grace-period: ${signal} needs a duration, not "${value}"`);
      return [signal, ms];
    }),
  );
  const reclaim = new Map(
    minimumReclaim.map((text) => {
      const { signal, value } = split('--eviction-minimum-reclaim', text, '=');
      return [signal, amount('--eviction-minimum-reclaim', signal, value)];
    }),
  );
  const parse = (flag: string, text: string) => {
    const { signal, value } = split(flag, text, '<');
    return { signal, value: amount(flag, signal, value), minReclaim: reclaim.get(signal) };
  };
  return [
    ...hard.map((text) => ({ ...parse('--eviction-hard', text), gracePeriodMs: 0 })),
    ...soft.map((text) => {
      const threshold = parse('--eviction-soft', text);
      const gracePeriodMs = grace.get(threshold.signal);
      if (gracePeriodMs === undefined)
        throw new UsageError(
          `--eviction-soft: grace period must be specified for the soft eviction threshold ${threshold.signal}`,
        );
      return { ...threshold, gracePeriodMs };
    }),
  ];
}

function split(flag: string, text: string, sign: '<' | '='): { signal: Signal; value: string } {
  const at = text.indexOf(sign);
  const name = (at < 0 ? text : text.slice(0, at)).trim();
  const signal = signals.find((s) => s === name);
  if (!signal)
    throw new UsageError(`${flag}: unsupported eviction signal "${name}"; there are ${signals.join(', ')}`);
  return { signal, value: at < 0 ? '' : text.slice(at + 1).trim() };
}

function amount(flag: string, signal: Signal, text: string): Amount {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined && Number(percent) <= 100) return { share: Number(percent) / 100 };
  const quantity = Quantity.tryParse(text);
  if (percent !== undefined || !quantity || quantity.sign < 0)
    throw new UsageError(`${flag}: ${signal} needs a quantity or a percentage, not "${text}"`);
  return { quantity };
}

/** In units of the signal, e.g. bytes. */
export function amountOf(value: Amount, { capacity }: Observation): Quantity {
  return 'quantity' in value
    ? value.quantity
    : Quantity.ofValue(Math.floor(capacity * value.share), 'BinarySI');
}

/** `enough`: beyond the threshold, also what has to be reclaimed is available. */
export function isCrossed(
  threshold: Threshold,
  observations: ReadonlyMap<Signal, Observation>,
  { withReclaim }: { withReclaim: boolean },
): boolean {
  const observed = observations.get(threshold.signal);
  if (!observed) return false;
  const { value, minReclaim } = threshold;
  const more = withReclaim && minReclaim ? amountOf(minReclaim, observed).toNumber() : 0;
  return observed.available < amountOf(value, observed).toNumber() + more;
}
