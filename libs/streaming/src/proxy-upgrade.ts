import * as http from 'node:http';
import * as https from 'node:https';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTLS } from 'node:tls';
import { EarlyReader } from './early-reader';
import type { UpgradeRequest, UpgradeTarget } from './types';
import { refuseUpgrade } from './upgrade-response';

/**
 * Sends an upgrade request on to another server and joins the two connections byte by byte, whatever they speak. An
 * answer other than 101 is passed on as it is. Never rejects; resolves when both connections are closed.
 */
export async function proxyUpgrade(upgrade: UpgradeRequest, target: UpgradeTarget): Promise<void> {
  const { request, socket, head } = upgrade;
  socket.on('error', () => socket.destroy());
  const client = new EarlyReader(socket);
  let answer: Answer;
  try {
    answer = await sendUpgrade(request, target, client.gone);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refuseUpgrade(socket, 502, `error dialing backend: ${message}`);
  }
  const { response } = answer;
  if (!answer.backend) {
    writeHead(socket, response, 'close');
    response.on('error', () => socket.destroy());
    response.pipe(socket);
    return closeOf(socket);
  }
  writeHead(socket, response, 'Upgrade');
  // Bytes that either side sent right behind its headers come first.
  answer.backend.write(Buffer.concat([head, client.stop()]));
  if (answer.early.length > 0) socket.write(answer.early);
  await join(socket, answer.backend);
}

interface Answer {
  response: http.IncomingMessage;
  /** The connection after a 101. */
  backend?: Duplex;
  early: Buffer;
}

async function sendUpgrade(
  request: http.IncomingMessage,
  target: UpgradeTarget,
  gone: AbortSignal,
): Promise<Answer> {
  const { url, tls, connect } = target;
  const secure = url.protocol === 'https:';
  const base = await connect?.();
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const outgoing = (secure ? https : http).request({
    host,
    port: url.port || (secure ? 443 : 80),
    method: request.method,
    path: url.pathname + url.search,
    headers: outgoingHeaders(request, target),
    setHost: false,
    ...tls,
    ...(base
      ? { createConnection: () => (secure ? connectTLS({ ...tls, socket: base, host }) : base) }
      : { agent: false }),
  });
  outgoing.setNoDelay(true);
  return new Promise((resolve, reject) => {
    const onGone = () => outgoing.destroy(gone.reason as Error);
    gone.addEventListener('abort', onGone, { once: true });
    if (gone.aborted) onGone();
    const settle = (answer: Answer) => {
      gone.removeEventListener('abort', onGone);
      resolve(answer);
    };
    outgoing.once('error', reject);
    outgoing.once('response', (response) => settle({ response, early: Buffer.alloc(0) }));
    outgoing.once('upgrade', (response, backend, early) => settle({ response, backend, early }));
    outgoing.end();
  });
}

function outgoingHeaders(
  request: http.IncomingMessage,
  { url, headers = {} }: UpgradeTarget,
): Record<string, string | string[]> {
  const passed: Record<string, string[]> = {};
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    (passed[(request.rawHeaders[i] ?? '').toLowerCase()] ??= []).push(request.rawHeaders[i + 1] ?? '');
  }
  const overrides = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const all: Record<string, string | string[] | undefined> = {
    ...passed,
    host: url.host,
    ...Object.fromEntries(overrides),
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}

function writeHead(socket: Duplex, response: http.IncomingMessage, connection: string): void {
  const code = response.statusCode ?? 502;
  let text = `HTTP/1.1 ${code} ${response.statusMessage || (STATUS_CODES[code] ?? '')}\r\nConnection: ${connection}\r\n`;
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    const name = response.rawHeaders[i] ?? '';
    // The body is passed on decoded, up to the connection's end.
    if (/^(connection|transfer-encoding|keep-alive)$/i.test(name)) continue;
    text += `${name}: ${response.rawHeaders[i + 1] ?? ''}\r\n`;
  }
  socket.write(`${text}\r\n`);
}

/** Copies both ways. Each side's end is passed on as an end; a side's failure closes the other. */
function join(client: Duplex, backend: Duplex): Promise<void> {
  backend.on('error', () => backend.destroy());
  client.pipe(backend);
  backend.pipe(client);
  client.once('close', () => backend.destroy());
  backend.once('close', () => {
    // After an orderly end the last bytes may still be on their way to the client.
    if (client.writableEnded && !client.writableFinished) client.once('finish', () => client.destroy());
    else client.destroy();
  });
  return Promise.all([closeOf(client), closeOf(backend)]).then(() => undefined);
}

function closeOf(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}
