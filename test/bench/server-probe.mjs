// What a server uses: its processes, where they run here, or what it says of itself on /metrics.
import { readFileSync } from 'node:fs';
import { cpuSeconds } from './cluster.mjs';

const residentMB = (pids) =>
  pids.reduce(
    (sum, pid) =>
      sum + Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0),
    0,
  ) / 1024;

export class ServerProbe {
  /** `pids`: all processes of the server, its storage's among them. `isNode`: it tells how long its event loop was held up. */
  constructor(client, { pids, isNode = false }) {
    this.client = client;
    this.pids = pids;
    this.isNode = isNode;
  }

  /** CPU seconds used so far, resident MB, and the longest block of the event loop since asked last. */
  async read() {
    const metrics = this.isNode || !this.pids ? String(await this.client.request('GET', '/metrics')) : '';
    const value = (name) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(metrics)?.[1]);
    const lagMs = value('nodejs_eventloop_lag_max_seconds') * 1000;
    if (this.pids) return { cpuSeconds: cpuSeconds(this.pids), residentMB: residentMB(this.pids), lagMs };
    return {
      cpuSeconds: value('process_cpu_seconds_total'),
      residentMB: value('process_resident_memory_bytes') / 1024 / 1024,
      lagMs,
    };
  }

  /** A piece of work with what the server spent on each of its operations. */
  async during(work) {
    const before = await this.read();
    const result = await work();
    const after = await this.read();
    const cpuMs = ((after.cpuSeconds - before.cpuSeconds) * 1000) / result.count;
    return { ...result, cpuMs, lagMs: after.lagMs, residentMB: after.residentMB };
  }
}
