import { CronExpressionParser, type CronExpression } from 'cron-parser';

/** More missed times than this are a sign of a wrong clock or a very late start, and are reported. */
const manyMissed = 100;

const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** When a cron expression fires. Times are epoch ms. */
export interface Schedule {
  /** The first time after `after`; undefined: it never fires again. */
  next(after: number): number | undefined;
}

/** Throws for expressions that can't be read. Without a time zone, that of the process counts, as upstream's. */
export function parseSchedule(expression: string, timeZone?: string): Schedule {
  const every = /^@every\s+(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(expression);
  if (every) {
    const [, h = 0, m = 0, s = 0] = every.map(Number).map((n) => n || 0);
    const period = Math.max(1, h * 3600 + m * 60 + s) * 1000;
    return { next: (after) => Math.floor(after / 1000) * 1000 + period };
  }
  const text = descriptors[expression] ?? expression;
  if (text.trim().split(/\s+/).length !== 5)
    throw new Error(`expected exactly 5 fields, found ${text.trim().split(/\s+/).length}: [${text}]`);
  // Parsed once here so that a bad expression is refused at once; a day that no month has is no mistake in it.
  try {
    CronExpressionParser.parse(text, timeZone ? { tz: timeZone } : {});
  } catch (error) {
    if (!neverFires(error)) throw error;
    return { next: () => undefined };
  }
  return {
    next(after) {
      const expressionFrom: CronExpression = CronExpressionParser.parse(text, {
        currentDate: new Date(after),
        ...(timeZone ? { tz: timeZone } : {}),
      });
      return expressionFrom.hasNext() ? expressionFrom.next().getTime() : undefined;
    },
  };
}

const neverFires = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Invalid explicit day of month definition';

export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

export interface Missed {
  /** It has no times at all. */
  isVoid?: boolean;
  /** The latest time that is due and not started. */
  latest: number | undefined;
  tooMany: boolean;
}

/**
 * The latest scheduled time in (`earliest`, `now`]. Long gaps are skipped in jumps, not walked through minute by minute.
 * Source: k8s.io/kubernetes/pkg/controller/cronjob mostRecentScheduleTime.
 */
export function latestMissed(schedule: Schedule, earliest: number, now: number): Missed {
  const first = schedule.next(earliest);
  if (first === undefined) return { isVoid: true, latest: undefined, tooMany: false };
  if (first > now) return { latest: undefined, tooMany: false };
  const second = schedule.next(first);
  if (second === undefined || second > now) return { latest: first, tooMany: false };
  const period = Math.max(1000, second - first);
  const count = Math.floor((now - first) / period) + 1;
  // Back from now by growing steps until one of the step's times is due, then forward one by one.
  for (let back = period; ; back *= 2) {
    const from = Math.max(earliest, now - back - 1000);
    let latest: number | undefined;
    for (let t = schedule.next(from); t !== undefined && t <= now; t = schedule.next(t)) latest = t;
    if (latest !== undefined || from === earliest)
      return { latest: latest ?? first, tooMany: count > manyMissed };
  }
}
