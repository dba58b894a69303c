/** The `code` of a system error (`ENOENT`), whatever realm it comes from. */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}
