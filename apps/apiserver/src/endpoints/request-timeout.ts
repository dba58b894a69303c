import { badRequest } from '@tinkernetes/apimachinery';

const duration = /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** A `timeout` has to be one, though the server takes its own time. Source: k8s.io/apiserver WithRequestDeadline. */
export function checkTimeout(query: URLSearchParams): void {
  const given = query.get('timeout');
  if (!given || duration.test(given)) return;
  const shown = JSON.stringify(given);
  const problem = /^[-+]?[\d.]/.test(given)
    ? /^[-+]?[\d.]+$/.test(given)
      ? `missing unit in duration ${shown}`
      : `unknown unit ${JSON.stringify(given.replace(/^[-+]?[\d.]+/, ''))} in duration ${shown}`
    : `invalid duration ${shown}`;
  throw badRequest(`invalid timeout specified in the request URL - time: ${problem}`);
}
