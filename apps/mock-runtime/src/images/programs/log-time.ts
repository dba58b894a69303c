const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `29/Nov/2026:17:14:34 +0000`. */
export function logTime(ms: number): string {
  const date = new Date(ms);
  const day = String(date.getUTCDate()).padStart(2, '0');
  return `${day}/${months[date.getUTCMonth()]}/${date.getUTCFullYear()}:${date.toISOString().slice(11, 19)} +0000`;
}
