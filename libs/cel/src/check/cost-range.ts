/** The least and the most of something: a size, or what it costs. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Beyond it cel-go doesn't count. */
const limit = 2 ** 64;

export const unknownSize: Range = { min: 0, max: limit };
export const fixed = (value: number): Range => ({ min: value, max: value });

export const plus = (a: Range, b: Range): Range => ({
  min: Math.min(limit, a.min + b.min),
  max: Math.min(limit, a.max + b.max),
});
export const times = (a: Range, b: Range): Range => ({
  min: Math.min(limit, a.min * b.min),
  max: Math.min(limit, a.max * b.max),
});
export const union = (a: Range, b: Range): Range => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
});
/** By a factor that is no whole number; rounded up. */
export const scaled = ({ min, max }: Range, factor: number): Range => ({
  min: Math.min(limit, Math.ceil(min * factor)),
  max: Math.min(limit, Math.ceil(max * factor)),
});
