// What the benchmarks share: starting a cluster from the bundles, asking its API, and what processes use.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import https from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

export const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

export function processTree(pid) {
  const children = new Map();
  for (const entry of readdirSync('/proc').filter((e) => /^\d+$/.test(e))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    }
  }
  const tree = [pid];
  for (let i = 0; i < tree.length; i++) tree.push(...(children.get(tree[i]) ?? []));
  return tree;
}

export const pssMB = (pids) =>
  pids.reduce(
    (sum, pid) =>
      sum + Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0),
    0,
  ) / 1024;

/** Seconds of CPU used so far; the kernel counts in hundredths. */
export const cpuSeconds = (pids) =>
  pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);

/** A machine that does other work, too, makes every time longer, but hardly the CPU. */
export const cpuByComponent = (pids) => byComponent(pids, cpuSeconds);

/** What `measure` says of the processes, added up by component. */
export function byComponent(pids, measure) {
  const used = new Map();
  for (const pid of pids) {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const script = args.findIndex((arg) => !arg.startsWith('-') && arg.endsWith('.cjs'));
    const app = args[script].endsWith('run.cjs') ? args[script + 1] : basename(args[script], '.cjs');
    used.set(app, (used.get(app) ?? 0) + measure([pid]));
  }
  return used;
}

/** Kept open, as clients keep their connections. */
const keepAlive = new https.Agent({ keepAlive: true, maxSockets: 16 });
const accessOf = new Map();

/** Where the kubeconfig leads and who it is; read once. */
function access(kubeconfig) {
  let known = accessOf.get(kubeconfig);
  if (!known) {
    const config = parse(readFileSync(kubeconfig, 'utf8'));
    const { user } = config.users[0];
    const decode = (data) => Buffer.from(data, 'base64');
    const { cluster } = config.clusters[0];
    known = {
      server: cluster.server,
      tls: {
        ca: decode(cluster['certificate-authority-data']),
        cert: decode(user['client-certificate-data']),
        key: decode(user['client-key-data']),
      },
    };
    accessOf.set(kubeconfig, known);
  }
  return known;
}

/** Resolves with the answer's text; with `onLine`, a stream's, once `onLine` has returned true for a line. */
export function request(
  kubeconfig,
  { method = 'GET', path, body, contentType = 'application/json', onLine },
) {
  const { server, tls } = access(kubeconfig);
  return new Promise((resolve, reject) => {
    const req = https.request(new URL(path, server), {
      method,
      agent: onLine ? false : keepAlive,
      ...tls,
      headers: body ? { 'content-type': contentType } : {},
    });
    req.on('response', (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk) => {
        text += chunk;
        if (!onLine) return;
        const lines = text.split('\n');
        text = lines.pop();
        for (const line of lines) if (onLine(JSON.parse(line))) (req.destroy(), resolve());
      });
      res.on('end', () =>
        res.statusCode < 300
          ? resolve(text)
          : reject(new Error(`${method} ${path}: ${res.statusCode} ${text}`)),
      );
      res.on('error', () => undefined);
    });
    req.on('error', (error) => (error.code === 'ECONNRESET' ? undefined : reject(error)));
    req.end(body ? JSON.stringify(body) : undefined);
  });
}

/** `tinkernetes up` on a fresh data directory. `ready` resolves when it says so. */
export async function startCluster(flags) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tk-bench-'));
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      join(root, 'dist/run.cjs'),
      'tinkernetes',
      'up',
      `--data-dir=${dataDir}`,
      `--api-port=${port}`,
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  child.stderr.on('data', (chunk) => (printed += chunk));
  const ready = new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => String(chunk).includes('Cluster ready') && resolve());
    child.once('exit', () => reject(new Error(printed)));
  });
  return {
    dataDir,
    port,
    pid: child.pid,
    startedAt,
    ready,
    kubeconfig: join(dataDir, 'kubeconfig'),
    async stop() {
      child.removeAllListeners('exit');
      await ended(child);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Ends a child by SIGTERM. */
export async function ended(child) {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
