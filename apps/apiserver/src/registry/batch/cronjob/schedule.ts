const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const names = {
  month: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  day: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
};
interface Bounds {
  min: number;
  max: number;
  names?: readonly string[];
}
const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: names.month },
  { min: 0, max: 6, names: names.day },
];

/** What is wrong with a cron schedule, in the words of the parser that upstream uses (robfig/cron v3). */
export function scheduleProblem(schedule: string): string | undefined {
  const text = schedule.trim();
  if (text === '') return 'empty spec string';
  if (text.startsWith('@')) {
    const isKnown = descriptors.includes(text) || /^@every ([0-9.]+(ns|us|µs|ms|s|m|h))+$/.test(text);
    return isKnown ? undefined : `unrecognized descriptor: ${text}`;
  }
  const parts = text.split(/\s+/);
  if (parts.length !== fields.length) {
    return `expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(' ')}]`;
  }
  for (const [i, part] of parts.entries()) {
    const bounds = fields[i];
    const problem = bounds && fieldProblem(part, bounds);
    if (problem) return problem;
  }
  return undefined;
}

function fieldProblem(field: string, bounds: Bounds): string | undefined {
  for (const expression of field.split(',').filter((part) => part !== '')) {
    const problem = rangeProblem(expression, bounds);
    if (problem) return problem;
  }
  return undefined;
}

function rangeProblem(expression: string, bounds: Bounds): string | undefined {
  const [range = '', step, ...moreSteps] = expression.split('/');
  if (moreSteps.length > 0) return `too many slashes: ${expression}`;
  const [low = '', high, ...moreParts] = range.split('-');
  if (moreParts.length > 0) return `too many hyphens: ${expression}`;
  const isStar = low === '*' || low === '?';
  const start = isStar ? bounds.min : numberOf(low, bounds);
  const end = isStar ? bounds.max : high === undefined ? start : numberOf(high, bounds);
  if (typeof start === 'string') return start;
  if (typeof end === 'string') return end;
  if (step !== undefined) {
    const size = numberOf(step, bounds);
    if (typeof size === 'string') return size;
    if (size === 0) return `step of range should be a positive number: ${expression}`;
  }
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${expression}`;
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${expression}`;
  return start > end
    ? `beginning of range (${start}) beyond end of range (${end}): ${expression}`
    : undefined;
}

/** The number, or what is wrong with it. */
function numberOf(text: string, bounds: Bounds): number | string {
  const position = bounds.names?.indexOf(text.toLowerCase()) ?? -1;
  if (position >= 0) return position + bounds.min;
  if (/^[0-9]+$/.test(text)) return Number(text);
  if (/^-[0-9]+$/.test(text)) return `negative number (${text}) not allowed: ${text}`;
  return `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`;
}

/** Time zones by their IANA names. */
export function isKnownTimeZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    // Files of zones have their names in one case alone.
    const isMisspelt = timeZone !== name && timeZone.toLowerCase() === name.toLowerCase();
    return !/^[+-]/.test(name) && !isMisspelt && name !== name.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
