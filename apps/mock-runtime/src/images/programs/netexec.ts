import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import type { Address } from '@tinkernetes/vnet';
import { OpenFile } from '../../kernel/open-file';
import type { Process } from '../../kernel/process';
import { spawn } from '../../kernel/spawn';
import { sendHttp } from '../../net/http-client';
import { resolveHost } from '../../net/resolver';
import { answer, flag, untilStopped, type Subcommand } from './agnhost-common';
import { serveHttp } from './http-listener';

const dialTimeoutMs = 5000;

/** agnhost's netexec: what a client asks over HTTP (/hostname, /clientip, /dial …) or UDP (hostname, echo, clientip). */
export const netexec: Subcommand = async (process, args) => {
  const port = Number(flag(args, 'http-port') ?? 8080);
  const udpPort = Number(flag(args, 'udp-port') ?? 8081);
  await process.complain(`Started HTTP server on port ${port}\n`);
  let exit: (code: number) => void = () => undefined;
  const exited = new Promise<number>((resolve) => {
    exit = resolve;
  });
  serveHttp(process, port, (request, response, client) =>
    netexecAnswer({ process, request, response, client, exit }),
  );
  if (udpPort > 0) {
    const socket = process.net.bindUdp({ port: udpPort }, ({ data, source }) => {
      const text = Buffer.from(data).toString().trim();
      const [command = '', ...rest] = text.split(' ');
      const reply =
        command.toLowerCase() === 'hostname'
          ? process.machine.hostname
          : command.toLowerCase() === 'echo'
            ? rest.join(' ')
            : command.toLowerCase() === 'clientip'
              ? `${source.host}:${source.port}`
              : '';
      socket.send(Buffer.from(reply), source);
    });
    process.signal.addEventListener('abort', () => socket.close(), { once: true });
  }
  return Promise.race([untilStopped(process), exited]);
};

interface Exchange {
  process: Process;
  request: IncomingMessage;
  response: ServerResponse;
  client: Address;
  exit(code: number): void;
}

function netexecAnswer({ process, request, response, client, exit }: Exchange): void {
  const url = new URL(request.url ?? '/', 'http://pod');
  switch (url.pathname) {
    case '/hostname':
    case '/hostName':
      return answer(response, process.machine.hostname);
    case '/clientip':
      return answer(response, `${client.host}:${client.port}`);
    case '/echo':
      return answer(response, url.searchParams.get('msg') ?? '', Number(url.searchParams.get('code') ?? 200));
    case '/header':
      return answer(
        response,
        String(request.headers[(url.searchParams.get('key') ?? '').toLowerCase()] ?? ''),
      );
    case '/healthz':
      return answer(response, '');
    case '/exit':
      answer(response, '');
      return exit(Number(url.searchParams.get('code') ?? 0));
    case '/redirect':
      response.writeHead(Number(url.searchParams.get('code') ?? 302), {
        Location: url.searchParams.get('location') ?? '/',
      });
      response.end();
      return undefined;
    case '/shell':
    case '/Shell':
      return later(
        response,
        runShell(process, url.searchParams.get('shellCommand') ?? url.searchParams.get('cmd') ?? ''),
      );
    case '/dial':
      return later(response, dial(process, url.searchParams));
    case '/upload':
      return later(response, upload(process, request));
    default:
      return answer(response, `NOW: ${new Date(process.clock.now()).toISOString()}`);
  }
}

async function runShell(process: Process, command: string): Promise<{ output: string; error?: string }> {
  const chunks: Buffer[] = [];
  const sink = new OpenFile({ write: (data) => void chunks.push(data) });
  const child = await spawn.start(process, ['/bin/sh', '-c', command], {
    files: new Map([
      [1, sink],
      [2, sink],
    ]),
  });
  const code = await child.exited;
  return {
    output: Buffer.concat(chunks).toString(),
    ...(code === 0 ? {} : { error: `exit status ${code}` }),
  };
}

/** The answer is made by something that takes time; it is told as JSON. */
function later(response: ServerResponse, made: Promise<object>): void {
  made.then(
    (result) => answer(response, JSON.stringify(result)),
    (error: unknown) => answer(response, String(error), 500),
  );
}

/** /dial?host=H&port=P&request=R&protocol=http|udp&tries=N: asks another netexec and tells what it answered. */
async function dial(process: Process, query: URLSearchParams): Promise<object> {
  const target = { host: query.get('host') ?? '', port: Number(query.get('port')) };
  const wanted = query.get('request') ?? 'hostname';
  const ask = query.get('protocol') === 'udp' ? askByUdp : askByHttp;
  const responses: string[] = [];
  const errors: string[] = [];
  for (let tries = Number(query.get('tries') ?? 1); tries > 0; tries--) {
    try {
      responses.push(await ask(process, target, wanted));
    } catch (error) {
      process.signal.throwIfAborted();
      errors.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { ...(responses.length > 0 ? { responses } : {}), ...(errors.length > 0 ? { errors } : {}) };
}

async function askByHttp(process: Process, { host, port }: Address, wanted: string): Promise<string> {
  const url = new URL(`http://${host}:${port}/${wanted}`);
  const response = await sendHttp(process, { url, method: 'GET', headers: {}, timeoutMs: dialTimeoutMs });
  return (await text(response)).trim();
}

async function askByUdp(process: Process, { host, port }: Address, wanted: string): Promise<string> {
  const address = await resolveHost(process, host);
  const waiting = new AbortController();
  return new Promise((resolve, reject) => {
    const socket = process.net.bindUdp({ port: 0 }, ({ data }) =>
      end(() => resolve(Buffer.from(data).toString().trim())),
    );
    const end = (settle: () => void) => {
      waiting.abort(new Error('answered'));
      socket.close();
      settle();
    };
    socket.send(Buffer.from(wanted), { host: address, port });
    process.clock.sleep(dialTimeoutMs, waiting.signal).then(
      () => end(() => reject(new Error('i/o timeout'))),
      // Answered in time: nobody waits any more.
      () => undefined,
    );
  });
}

/** POST of a form with one file: it is kept under /uploads, executable. */
async function upload(process: Process, request: IncomingMessage): Promise<object> {
  const form = await buffer(request);
  const start = form.indexOf('\r\n\r\n');
  const boundary = form.subarray(0, form.indexOf('\r\n'));
  const end = form.indexOf(Buffer.concat([Buffer.from('\r\n'), boundary]), start);
  if (start < 0 || end < 0) return { error: 'Unable to upload file.' };
  const path = `/uploads/upload${process.machine.random.hex(5)}`;
  process.fs.mkdir('/uploads', { parents: true });
  process.fs.writeFile(path, form.subarray(start + 4, end), { mode: 0o755, user: process.user });
  return { output: path };
}
