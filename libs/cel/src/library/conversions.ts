import type { Environment } from '@marcbachmann/cel-js';
import { Duration, type UnsignedInt } from '@marcbachmann/cel-js/evaluator';

const duration = 'google.protobuf.Duration';
const timestamp = 'google.protobuf.Timestamp';

/** Conversions between types that the library lacks. Source: cel-go common/stdlib. */
export function registerConversions(env: Environment): void {
  env.registerFunction(`string(${duration}): string`, durationText);
  env.registerFunction(`string(${timestamp}): string`, timestampText);
  env.registerFunction(`int(${duration}): int`, nanoseconds);
  env.registerFunction(`int(${timestamp}): int`, (time: Date) => BigInt(Math.floor(time.getTime() / 1000)));
  env.registerFunction('int(uint): int', (value: UnsignedInt) => {
    const number = BigInt(value.valueOf());
    if (number >= 2n ** 63n) throw new Error('integer overflow');
    return number;
  });
  env.registerFunction(`duration(${duration}): ${duration}`, (value: Duration) => value);
  env.registerFunction(
    `duration(int): ${duration}`,
    (value: bigint) => new Duration(value / billion, Number(value % billion)),
  );
  env.registerFunction(`timestamp(${timestamp}): ${timestamp}`, (value: Date) => value);
}

const billion = 1_000_000_000n;

const nanoseconds = ({ seconds, nanos }: Duration): bigint => seconds * billion + BigInt(nanos);

/** Seconds without zeros at the end: `1.5s`. */
export function durationText(value: Duration): string {
  const total = nanoseconds(value);
  const size = total < 0n ? -total : total;
  const fraction = `${size % billion}`.padStart(9, '0').replace(/0+$/, '');
  return `${total < 0n ? '-' : ''}${size / billion}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** As RFC 3339 has it, without zeros at the end of the seconds. */
export const timestampText = (time: Date): string =>
  time.toISOString().replace(/\.(\d*?)0+Z$/, (_, digits: string) => (digits === '' ? 'Z' : `.${digits}Z`));
