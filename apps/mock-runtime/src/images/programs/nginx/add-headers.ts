import type { Exchange } from './exchange';
import { expand } from './variables';

/** Without `always` the others get none. */
const forAddHeader = new Set([200, 201, 204, 206, 301, 302, 303, 304, 307, 308]);

/** `add_header NAME VALUE [always]`; a second Content-Type would be none that clients read, so it replaces the first. */
export function addHeaders(exchange: Exchange): void {
  const { statusCode } = exchange.response;
  for (const { args } of exchange.context.all('add_header')) {
    const [name = '', value = '', always] = args;
    const text = expand(value, exchange);
    if (text === '' || (always !== 'always' && !forAddHeader.has(statusCode))) continue;
    exchange.response.setHeader(name, text);
  }
}
