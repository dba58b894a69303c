import { parseDuration } from '@tinkernetes/component-base';
import { NetError } from '@tinkernetes/vnet';
import type { Process } from '../../kernel/process';
import { readResolvConf, resolveHost, ResolveError } from '../../net/resolver';
import { answer, flag, untilStopped, type Subcommand } from './agnhost-common';
import { serveGrpcHealth } from './grpc-health';
import { serveHttp } from './http-listener';
import { netexec } from './netexec';
import { pause } from './pause';

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

/** `I0102 15:04:05.000000       1 file.go:1]` */
function klogHead(now: number, source: string): string {
  const [date = '', time = ''] = new Date(now).toISOString().slice(5, -1).split('T');
  return `I${date.replace('-', '')} ${time}000       1 ${source}]`;
}

/** Lines as an API server's log has them. */
const logsGenerator: Subcommand = async (process, args) => {
  const total = Number(flag(args, 'log-lines-total') ?? 0);
  const seconds = parseFloat(flag(args, 'run-duration') ?? '0') || 1;
  const { random } = process.machine;
  for (let line = 0; line < total; line++) {
    const pick = <T>(from: readonly T[]) => from[Math.floor(random.next() * from.length)];
    const url = `/api/v1/namespaces/${pick(['kube-system', 'default', 'ns'])}/pods/${random.hex(2)}`;
    const status = 200 + Math.floor(random.next() * 400);
    await process.complain(
      `${klogHead(process.clock.now(), 'logs_generator.go:76')} ${line} ${pick(['PUT', 'GET', 'POST'])} ${url} ${status}\n`,
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

const fakeGitServer: Subcommand = (process) => {
  serveHttp(process, 8000, (_request, response) => answer(response, 'I am a fake git server'));
  return untilStopped(process);
};

/** `grpc-health-checking [--port=5000] [--http-port=8080]`: gRPC's health service, told by HTTP what to say. */
const grpcHealthChecking: Subcommand = async (process, args) => {
  let isServing = true;
  await serveGrpcHealth(process, { port: Number(flag(args, 'port') ?? 5000), isServing: () => isServing });
  serveHttp(process, Number(flag(args, 'http-port') ?? 8080), (request, response) => {
    if (request.url === '/make-serving') isServing = true;
    if (request.url === '/make-not-serving') isServing = false;
    answer(response, '');
  });
  return untilStopped(process);
};

/** `connect HOST:PORT [--timeout=1s]`: 0 when the port is open; what is wrong, in one word, when it isn't. */
const connect: Subcommand = async (process, args) => {
  const target = args.find((arg) => !arg.startsWith('-')) ?? '';
  const at = target.lastIndexOf(':');
  const timeoutMs = parseDuration(flag(args, 'timeout') ?? '3s') ?? 3000;
  try {
    const host = await resolveHost(process, target.slice(0, at));
    const port = Number(target.slice(at + 1));
    const { stream } = await process.net.connect({ host, port, timeoutMs, signal: process.signal });
    stream.destroy();
    return 0;
  } catch (error) {
    process.signal.throwIfAborted();
    if (error instanceof ResolveError) await process.complain('DNS\n');
    else if (!(error instanceof NetError)) throw error;
    else await process.complain(`${error.code === 'ECONNREFUSED' ? 'REFUSED' : 'TIMEOUT'}\n`);
    return 1;
  }
};

const subcommands: Readonly<Record<string, Subcommand>> = {
  connect,
  'grpc-health-checking': grpcHealthChecking,
  'dns-server-list': list('servers'),
  'dns-suffix': list('search'),
  'entrypoint-tester': entrypointTester,
  'etc-hosts': async (process) => {
    await process.print(process.fs.readFile('/etc/hosts').toString());
    return 0;
  },
  'fake-gitserver': fakeGitServer,
  liveness,
  'logs-generator': logsGenerator,
  mounttest,
  netexec,
  pause: async (process) => {
    await process.print('Paused\n');
    return pause(process);
  },
  porter,
  'serve-hostname': serveHostname,
  'test-webserver': testWebserver,
};

/** registry.k8s.io/e2e-test-images/agnhost: the parts that conformance tests and examples use. */
export async function agnhost(process: Process): Promise<number> {
  const [, name = '', ...args] = process.argv;
  const command = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (command) return command(process, args);
  await process.complain(`Error: unknown command "${name}" for "app"\n`);
  return 1;
}
