import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Address } from '@tinkernetes/vnet';
import type { Process } from '../../../kernel/process';
import type { Context, Configuration, Server } from './configuration';
import type { Logs } from './logs';
import type { Upstreams } from './upstreams';

/** What is the same for all requests of one configuration. */
export interface Site {
  /** The worker: its files, rights and network. */
  process: Process;
  version: string;
  configuration: Configuration;
  upstreams: Upstreams;
  logs: Logs;
}

/** One request on its way through the server's phases, which change its URI and its variables. */
export interface Exchange {
  site: Site;
  server: Server;
  request: IncomingMessage;
  response: ServerResponse;
  client: Address;
  port: number;
  host: string;
  /** The path as it is now: decoded, and rewritten. */
  uri: string;
  /** The query, without its `?`. */
  args: string;
  /** The block that answers; the server's own before a location is chosen. */
  context: Context;
  /** The prefix of the location, which `alias` and `proxy_pass` replace; undefined for a regular expression's. */
  prefix?: string;
  captures: readonly (string | undefined)[];
  /** Of `set` and of named groups. */
  variables: Map<string, string>;
  /** Epoch milliseconds. */
  startedAt: number;
  /** The address that answered, for the log. */
  upstream?: string;
  /** After an `error_page`: the status that is kept. */
  errorStatus?: number;
  /** How often it was redirected within the server. */
  redirects: number;
}

/** What a phase answers a request with. */
export interface Answer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer;
}

export const textAnswer = (status: number, text: string, type = 'text/plain'): Answer => ({
  status,
  headers: { 'Content-Type': type },
  body: Buffer.from(text),
});
