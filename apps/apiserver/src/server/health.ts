import type { ApiRequest } from '../contracts';
import { PlainNotFound, sendPlainError, sendText } from './respond';

/** One thing that is checked; throws when it is not well. */
export interface HealthCheck {
  name: string;
  check(): Promise<void> | void;
  /** Where else than everywhere: `/readyz`, or `/healthz` and `/livez`. */
  only?: 'ready' | 'live';
}

const endpoints: readonly string[] = ['healthz', 'livez', 'readyz'];

/** `/healthz`, `/livez`, `/readyz` and their single checks. Source: k8s.io/apiserver/pkg/server/healthz. */
export async function serveHealth(checks: readonly HealthCheck[], request: ApiRequest): Promise<boolean> {
  const [, endpoint = '', ...rest] = request.info.path.split('/');
  if (!endpoints.includes(endpoint)) return false;
  const unwanted = endpoint === 'readyz' ? 'live' : 'ready';
  const own = checks.filter(({ only }) => only !== unwanted);
  if (rest.length === 0) {
    request.routed();
    await answerAll(endpoint, own, request);
  } else await answerOne(rest.join('/'), own, request);
  return true;
}

async function answerAll(
  endpoint: string,
  checks: readonly HealthCheck[],
  { query, response }: ApiRequest,
): Promise<void> {
  const excluded = new Set(query.getAll('exclude'));
  const results = await Promise.all(
    checks.map(async (check) => ({
      name: check.name,
      state: excluded.delete(check.name) ? 'excluded' : (await failureOf(check)) ? 'failed' : 'ok',
    })),
  );
  const lines = results.map(({ name, state }) => {
    if (state === 'failed') return `[-]${name} failed: reason withheld\n`;
    return state === 'excluded' ? `[+]${name} excluded: ok\n` : `[+]${name} ok\n`;
  });
  if (excluded.size) {
    const names = [...excluded].sort().map((name) => JSON.stringify(name));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(', ')}\n`);
  }
  const text = lines.join('');
  if (results.some(({ state }) => state === 'failed')) {
    sendPlainError(response, 500, `${text}${endpoint} check failed`);
    return;
  }
  response.setHeader('X-Content-Type-Options', 'nosniff');
  sendText(response, 200, query.has('verbose') ? `${text}${endpoint} check passed\n` : 'ok');
}

async function answerOne(
  name: string,
  checks: readonly HealthCheck[],
  { response }: ApiRequest,
): Promise<void> {
  const check = checks.find((c) => c.name === name);
  if (!check) throw new PlainNotFound();
  const failure = await failureOf(check);
  if (failure) sendPlainError(response, 500, `internal server error: ${failure.message}`);
  else sendText(response, 200, 'ok');
}

async function failureOf({ check }: HealthCheck): Promise<Error | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
