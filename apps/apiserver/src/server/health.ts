import type { ApiRequest } from '../contracts';
import { PlainNotFound, sendText } from './respond';

/** One thing that is checked; throws when it is not well. */
export interface HealthCheck {
  name: string;
  check(): Promise<void> | void;
  /** Only for `/readyz`. */
  readyOnly?: boolean;
}

const endpoints: readonly string[] = ['healthz', 'livez', 'readyz'];

/** `/healthz`, `/livez`, `/readyz` and their single checks. Source: https://kubernetes.io/docs/reference/using-api/health-checks/ */
export async function serveHealth(checks: readonly HealthCheck[], request: ApiRequest): Promise<boolean> {
  const [endpoint = '', name, ...rest] = request.info.path.replace(/^\//, '').split('/');
  if (!endpoints.includes(endpoint)) return false;
  const excluded = new Set(request.query.getAll('exclude'));
  const wanted = checks.filter((c) => (endpoint === 'readyz' || !c.readyOnly) && !excluded.has(c.name));
  const selected = name ? wanted.filter((c) => c.name === name) : wanted;
  if (rest.length || (name && selected.length === 0)) throw new PlainNotFound();
  const results = await Promise.all(selected.map(run));
  const failed = results.some((r) => !r.ok);
  const lines = results.map((r) => (r.ok ? `[+]${r.name} ok` : `[-]${r.name} failed: reason withheld`));
  const verdict = `${endpoint} check ${failed ? 'failed' : 'passed'}`;
  if (failed) sendText(request.response, 500, [...lines, verdict, ''].join('\n'));
  else if (!name && request.query.has('verbose'))
    sendText(request.response, 200, [...lines, verdict, ''].join('\n'));
  else sendText(request.response, 200, 'ok');
  return true;
}

async function run({ name, check }: HealthCheck): Promise<{ name: string; ok: boolean }> {
  try {
    await check();
    return { name, ok: true };
  } catch (error) {
    return { name, ok: error === undefined };
  }
}
