/** Go's HumanDuration: `5s`, `3m20s`, `2d4h`. Source: k8s.io/apimachinery/pkg/util/duration. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 24 * 8) return withRest(days, 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return hours < 24 * 365 * 8 ? withRest(years, 'y', days % 365, 'd') : `${years}y`;
}

const withRest = (value: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`;

/** How long ago, as Table cells show it. */
export function since(time: string | undefined | null, now: number): string {
  return time ? humanDuration(now - Date.parse(time)) : '<unknown>';
}
