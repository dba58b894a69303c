import { Quantity } from '@tinkernetes/apimachinery';
import { UsageError } from '@tinkernetes/component-base';

export const signals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'pid.available',
] as const;
export type Signal = (typeof signals)[number];
export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** What a signal stands for: the Node's condition and the resource that runs out. */
export const meaningOf: Record<Signal, { condition: PressureCondition; resource: string }> = {
  'memory.available': { condition: 'MemoryPressure', resource: 'memory' },
  'nodefs.available': { condition: 'DiskPressure', resource: 'ephemeral-storage' },
  'nodefs.inodesFree': { condition: 'DiskPressure', resource: 'inodes' },
  'pid.available': { condition: 'PIDPressure', resource: 'pids' },
};

/** Eviction begins where less than this is available. */
export interface Threshold {
  signal: Signal;
  /** A fixed amount, or a share of the capacity. */
  value: { quantity: Quantity } | { share: number };
}

export interface Observation {
  available: number;
  capacity: number;
}

/** `memory.available<100Mi`, `nodefs.available<10%`. Source: pkg/kubelet/eviction/helpers.go. */
export function parseThreshold(statement: string): Threshold {
  const [name = '', text = ''] = statement.split('<').map((part) => part.trim());
  const signal = signals.find((s) => s === name);
  if (!signal)
    throw new UsageError(
      `--eviction-hard: unsupported eviction signal "${name}"; there are ${signals.join(', ')}`,
    );
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined && Number(percent) <= 100)
    return { signal, value: { share: Number(percent) / 100 } };
  const quantity = Quantity.tryParse(text);
  if (percent !== undefined || !quantity || quantity.sign < 0)
    throw new UsageError(`--eviction-hard: ${signal} needs a quantity or a percentage, not "${text}"`);
  return { signal, value: { quantity } };
}

/** In units of the signal, e.g. bytes. */
export function thresholdAmount({ value }: Threshold, { capacity }: Observation): Quantity {
  return 'quantity' in value
    ? value.quantity
    : Quantity.ofValue(Math.floor(capacity * value.share), 'BinarySI');
}

/** Those of the thresholds that are crossed, memory first: it is the most urgent. */
export function crossed(
  thresholds: readonly Threshold[],
  observations: ReadonlyMap<Signal, Observation>,
): Threshold[] {
  const met = thresholds.filter((threshold) => {
    const observed = observations.get(threshold.signal);
    return observed && observed.available < thresholdAmount(threshold, observed).toNumber();
  });
  return met.sort((a, b) => signals.indexOf(a.signal) - signals.indexOf(b.signal));
}
