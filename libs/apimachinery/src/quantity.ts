/** How a quantity is written. Source: k8s.io/apimachinery/pkg/api/resource.Format. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

const NANO = 1_000_000_000n;
const MAX_VALUE = (1n << 63n) - 1n;
const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const suffixOfExponent = new Map(
  Object.entries(decimalSuffixes).map(([suffix, exponent]) => [exponent, suffix]),
);
const suffixOfPower = new Map(Object.entries(binarySuffixes).map(([suffix, power]) => [power, suffix]));

export const quantityFormatError =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** The same few texts are read again and again, in each write and by each scheduling decision. */
const recentlyParsed = new Map<string, Quantity>();
const maxRecentlyParsed = 1000;

const ceilDivide = (value: bigint, by: bigint): bigint => {
  const quotient = value / by;
  return value % by > 0n ? quotient + 1n : quotient;
};
/** Divides and rounds away from zero. */
const divideAwayFromZero = (value: bigint, by: bigint): bigint =>
  value < 0n ? -ceilDivide(-value, by) : ceilDivide(value, by);

/**
 * An exact fixed-point number with nine decimal places, as resources are counted in (`100m`, `1Gi`, `2e3`).
 * Immutable. Source: k8s.io/apimachinery/pkg/api/resource.Quantity.
 */
export class Quantity {
  static readonly zero = new Quantity(0n, 'DecimalSI');

  /** Private to the language, too: it is no part of the value that tests compare. */
  #text: string | undefined;

  private constructor(
    private readonly nanos: bigint,
    readonly format: QuantityFormat,
  ) {}

  /** Throws an Error with upstream's text when the value is no quantity. */
  static parse(input: string | number): Quantity {
    const text = String(input).trim();
    const known = recentlyParsed.get(text);
    if (known) return known;
    const quantity = Quantity.parseText(text);
    if (recentlyParsed.size >= maxRecentlyParsed) recentlyParsed.clear();
    recentlyParsed.set(text, quantity);
    return quantity;
  }

  private static parseText(text: string): Quantity {
    if (text === '') throw new Error(quantityFormatError);
    const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*)([-+]?[0-9]*)$/.exec(text);
    if (!match) throw new Error(quantityFormatError);
    const [, sign = '', whole = '', fraction = '', letters = '', exponentDigits = ''] = match;
    if (whole === '' && fraction === '') throw new Error(quantityFormatError);
    const { multiplier, exponent, format } = parseSuffix(letters, exponentDigits);
    const digits = BigInt(whole + fraction) * multiplier;
    const scale = exponent - fraction.length + 9;
    const magnitude =
      scale >= 0 ? digits * 10n ** BigInt(scale) : ceilDivide(digits, 10n ** BigInt(Math.min(-scale, 400)));
    const capped = magnitude > MAX_VALUE * NANO ? MAX_VALUE * NANO : magnitude;
    const smallBinary = format === 'BinarySI' && capped > 0n && capped < NANO;
    return new Quantity(sign === '-' ? -capped : capped, smallBinary ? 'DecimalSI' : format);
  }

  /** `undefined` instead of a throw. */
  static tryParse(input: string | number | undefined): Quantity | undefined {
    if (input === undefined) return undefined;
    try {
      return Quantity.parse(input);
    } catch (error) {
      if (error instanceof Error) return undefined;
      throw error;
    }
  }

  static ofValue(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return typeof value === 'bigint'
      ? new Quantity(value * NANO, format)
      : new Quantity(BigInt(Math.round(value)) * NANO, format);
  }

  static ofMilli(milli: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(typeof milli === 'number' ? Math.round(milli) : milli) * 1_000_000n, format);
  }

  get isZero(): boolean {
    return this.nanos === 0n;
  }

  /** -1, 0 or 1. */
  get sign(): number {
    return this.nanos === 0n ? 0 : this.nanos < 0n ? -1 : 1;
  }

  compare(other: Quantity): number {
    return this.nanos === other.nanos ? 0 : this.nanos < other.nanos ? -1 : 1;
  }

  equals(other: Quantity): boolean {
    return this.nanos === other.nanos;
  }

  /** The sum takes this one's format, or the other's when this is zero. */
  add(other: Quantity): Quantity {
    return new Quantity(this.nanos + other.nanos, this.isZero ? other.format : this.format);
  }

  sub(other: Quantity): Quantity {
    return new Quantity(this.nanos - other.nanos, this.isZero ? other.format : this.format);
  }

  negate(): Quantity {
    return new Quantity(-this.nanos, this.format);
  }

  multiply(factor: number): Quantity {
    return new Quantity(this.nanos * BigInt(factor), this.format);
  }

  /** Whole units, rounded away from zero. */
  value(): number {
    return Number(divideAwayFromZero(this.nanos, NANO));
  }

  /** Thousandths, rounded away from zero. */
  milliValue(): number {
    return Number(divideAwayFromZero(this.nanos, 1_000_000n));
  }

  get isInteger(): boolean {
    return this.nanos % NANO === 0n;
  }

  get isMilliInteger(): boolean {
    return this.nanos % 1_000_000n === 0n;
  }

  /** For ratios and scores only; loses precision. */
  toNumber(): number {
    return Number(this.nanos) / 1e9;
  }

  /** The canonical form: the largest suffix that loses nothing. */
  toString(): string {
    return (this.#text ??= this.formatted());
  }

  private formatted(): string {
    if (this.nanos === 0n) return '0';
    const whole = this.nanos / NANO;
    const isBinary = this.format === 'BinarySI' && this.isInteger && (whole >= 1024n || whole <= -1024n);
    return isBinary ? formatBinary(whole) : this.formatDecimal();
  }

  toJSON(): string {
    return this.toString();
  }

  private formatDecimal(): string {
    let mantissa = this.nanos;
    let exponent = -9;
    while (mantissa % 10n === 0n) {
      mantissa /= 10n;
      exponent += 1;
    }
    while (exponent % 3 !== 0) {
      mantissa *= 10n;
      exponent -= 1;
    }
    while (exponent > 18) {
      mantissa *= 1000n;
      exponent -= 3;
    }
    if (this.format === 'DecimalExponent')
      return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
    return `${mantissa}${suffixOfExponent.get(exponent) ?? ''}`;
  }
}

function formatBinary(whole: bigint): string {
  let mantissa = whole;
  let power = 0;
  while (mantissa % 1024n === 0n && power < 60) {
    mantissa /= 1024n;
    power += 10;
  }
  return `${mantissa}${suffixOfPower.get(power) ?? ''}`;
}

function parseSuffix(
  letters: string,
  digits: string,
): { multiplier: bigint; exponent: number; format: QuantityFormat } {
  if (digits !== '') {
    if (letters !== 'e' && letters !== 'E') throw new Error("unable to parse quantity's suffix");
    if (digits === '-' || digits === '+') throw new Error("unable to parse quantity's suffix");
    return { multiplier: 1n, exponent: clampExponent(Number(digits)), format: 'DecimalExponent' };
  }
  const power = binarySuffixes[letters];
  if (power !== undefined) return { multiplier: 1n << BigInt(power), exponent: 0, format: 'BinarySI' };
  const exponent = decimalSuffixes[letters];
  if (exponent === undefined || !Object.hasOwn(decimalSuffixes, letters)) {
    throw new Error("unable to parse quantity's suffix");
  }
  return { multiplier: 1n, exponent, format: 'DecimalSI' };
}

/** Beyond these the value is capped or rounds up to one nano anyway. */
const clampExponent = (exponent: number): number => Math.max(-400, Math.min(400, exponent));

/** The canonical spelling of a quantity; throws as `Quantity.parse` does. */
export const canonicalQuantity = (input: string | number): string => Quantity.parse(input).toString();
