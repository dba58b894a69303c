import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Address } from '@tinkernetes/vnet';
import { readResolvConf } from '../../net/resolver';
import { spawn } from '../../kernel/spawn';
import { OpenFile } from '../../kernel/open-file';
import type { Process } from '../../kernel/process';
import { serveHttp } from './http-listener';
import { pause } from './pause';

type Subcommand = (process: Process, args: readonly string[]) => Promise<number>;

const flag = (args: readonly string[], name: string): string | undefined => {
  const inline = args.find((arg) => arg.startsWith(`--${name}=`));
  if (inline) return inline.slice(name.length + 3);
  const at = args.indexOf(`--${name}`);
  return at < 0 ? undefined : args[at + 1];
};

const answer = (response: ServerResponse, text: string, status = 200): void => {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(text);
};

async function untilStopped(process: Process): Promise<number> {
  await process.untilSignal('SIGTERM', 'SIGINT');
  return 0;
}

/** netexec: /hostname, /clientip, /echo, /shell, /healthz, /exit, /header over HTTP; echo and hostname over UDP. */
const netexec: Subcommand = async (process, args) => {
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
    case '/shell':
    case '/Shell':
      runShell(process, url.searchParams.get('shellCommand') ?? url.searchParams.get('cmd') ?? '').then(
        (result) => answer(response, JSON.stringify(result)),
        (error: unknown) => answer(response, String(error), 500),
      );
      return undefined;
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

const serveHostname: Subcommand = async (process, args) => {
  const port = Number(flag(args, 'port') ?? 9376);
  await process.complain('Serving on port ' + port + '.\n');
  serveHttp(process, port, (_request, response) => answer(response, process.machine.hostname));
  return untilStopped(process);
};

/** Answers 200 for ten seconds, then 500. */
const liveness: Subcommand = async (process) => {
  const started = process.clock.now();
  serveHttp(process, 8080, (_request, response) => {
    const seconds = (process.clock.now() - started) / 1000;
    if (seconds > 10) answer(response, `error: ${seconds}`, 500);
    else answer(response, 'ok');
  });
  return untilStopped(process);
};

const entrypointTester: Subcommand = async (process) => {
  await process.print(`[${process.argv.join(' ')}]\n`);
  return 0;
};

/** Every SERVE_PORT_<n> variable's value on port n. */
const porter: Subcommand = async (process) => {
  for (const [key, value] of Object.entries(process.env)) {
    const port = /^SERVE_(?:TLS_)?PORT_(\d+)$/.exec(key)?.[1];
    if (port) serveHttp(process, Number(port), (_request, response) => answer(response, value));
  }
  return untilStopped(process);
};

const logsGenerator: Subcommand = async (process, args) => {
  const total = Number(flag(args, 'log-lines-total') ?? 0);
  const seconds = parseFloat(flag(args, 'run-duration') ?? '0') || 1;
  for (let line = 0; line < total; line++) {
    const stamp = new Date(process.clock.now()).toISOString();
    await process.print(
      `${stamp} ${line} GET /api/v1/namespaces/default/pods/${process.machine.random.hex(2)} ${200 + Math.floor(process.machine.random.next() * 300)}\n`,
    );
    await process.sleep((seconds * 1000) / total);
  }
  return 0;
};

/** `mounttest --file_content=PATH --file_mode=PATH …`, worded as conformance tests expect. */
const mounttest: Subcommand = async (process, args) => {
  const { fs } = process;
  let status = 0;
  for (const arg of args) {
    const [, name = '', path = ''] = /^--(\w+)=(.*)$/.exec(arg) ?? [];
    if (path === '' || name === 'retry_time' || name === 'break_on_expected_content') continue;
    if (name === 'new_file_0644' || name === 'new_file_0666' || name === 'new_file_0777') {
      fs.writeFile(path, Buffer.from('mount-tester new file\n'), {
        mode: parseInt(name.slice(-4), 8),
        user: process.user,
      });
      continue;
    }
    if (!fs.exists(path)) {
      await process.print(
        `error reading file content for "${path}": open ${path}: no such file or directory\n`,
      );
      status = 1;
    } else if (name === 'file_content' || name === 'file_content_in_loop')
      await process.print(`content of file "${path}": ${fs.readFile(path).toString()}\n`);
    else if (name === 'file_mode' || name === 'file_perm') {
      const { mode, kind } = fs.stat(path);
      const letters = [...'rwxrwxrwx'].map((letter, i) => ((mode >> (8 - i)) & 1 ? letter : '-')).join('');
      await process.print(
        `${name === 'file_mode' ? 'mode' : 'perms'} of file "${path}": ${kind === 'directory' ? 'd' : '-'}${letters}\n`,
      );
    } else if (name === 'file_owner') {
      const { uid, gid } = fs.stat(path);
      await process.print(`owner UID of "${path}": ${uid}\nowner GID of "${path}": ${gid}\n`);
    } else if (name === 'fs_type') await process.print(`mount type of "${path}": tmpfs\n`);
  }
  return status;
};

const list =
  (title: 'search' | 'servers'): Subcommand =>
  async (process) => {
    const { search, nameservers } = readResolvConf(process.fs);
    await process.print(`${title === 'search' ? search.join(',') : nameservers.join(',')}\n`);
    return 0;
  };

const testWebserver: Subcommand = async (process, args) => {
  serveHttp(process, Number(flag(args, 'port') ?? 80), (request, response) => {
    const path = decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/');
    const { fs } = process;
    if (fs.isDirectory(path))
      answer(
        response,
        fs
          .readdir(path)
          .map((name) => `<a href="${name}">${name}</a>\n`)
          .join(''),
      );
    else if (fs.exists(path)) answer(response, fs.readFile(path).toString());
    else answer(response, '404 page not found\n', 404);
  });
  return untilStopped(process);
};

const subcommands: Readonly<Record<string, Subcommand>> = {
  'dns-server-list': list('servers'),
  'dns-suffix': list('search'),
  'entrypoint-tester': entrypointTester,
  liveness,
  'logs-generator': logsGenerator,
  mounttest,
  netexec,
  pause: (process) => pause(process),
  porter,
  'serve-hostname': serveHostname,
  'test-webserver': testWebserver,
};

/** registry.k8s.io/e2e-test-images/agnhost: the parts that conformance tests and examples use. */
export async function agnhost(process: Process): Promise<number> {
  const [, name = '', ...args] = process.argv;
  const command = subcommands[name];
  if (command) return command(process, args);
  await process.complain(`Error: unknown command "${name}" for "app"\n`);
  return 1;
}
