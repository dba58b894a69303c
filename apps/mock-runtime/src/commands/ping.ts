import { NetError } from '@tinkernetes/vnet';
import type { Process } from '../kernel/process';
import { resolveHost, ResolveError } from '../net/resolver';
import { parseArgs } from './paths';

/** Reserved (tcpmux): nothing in a Pod listens there, so an answer, be it a refusal, is the host's own. */
const probePort = 1;

/** `ping [-c COUNT] [-i SECONDS] [-W SECONDS] [-q] HOST`. */
export async function ping(process: Process): Promise<number> {
  const { rest, values, flags } = parseArgs(process.argv.slice(1), 'ciWws');
  const [name = ''] = rest;
  let address: string;
  try {
    address = await resolveHost(process, name);
  } catch (error) {
    if (!(error instanceof ResolveError)) throw error;
    await process.complain(`ping: bad address '${name}'\n`);
    return 1;
  }
  await process.print(`PING ${name} (${address}): 56 data bytes\n`);
  if (!process.machine.capabilities.has('NET_RAW')) {
    await process.complain('ping: permission denied (are you root?)\n');
    return 1;
  }
  const count = Number(values.get('c') ?? Infinity);
  const waitMs = Number(values.get('W') ?? values.get('w') ?? 1) * 1000;
  const intervalMs = Number(values.get('i') ?? 1) * 1000;
  const times: number[] = [];
  let sent = 0;
  const interrupted = process.untilSignal('SIGINT');
  while (sent < count) {
    const took = await probe(process, address, waitMs);
    if (took !== undefined) {
      times.push(took);
      if (!flags.has('q'))
        await process.print(`64 bytes from ${address}: seq=${sent} ttl=64 time=${took.toFixed(3)} ms\n`);
    }
    sent += 1;
    if (sent < count && (await Promise.race([interrupted, process.sleep(intervalMs)]))) break;
  }
  await process.print(summary(name, sent, times));
  return times.length > 0 ? 0 : 1;
}

/** Milliseconds until the host answered; undefined when it did not. */
async function probe(process: Process, host: string, timeoutMs: number): Promise<number | undefined> {
  const start = process.clock.monotonic();
  try {
    const { stream } = await process.net.connect({
      host,
      port: probePort,
      timeoutMs,
      signal: process.signal,
    });
    stream.destroy();
  } catch (error) {
    process.signal.throwIfAborted();
    if (!(error instanceof NetError)) throw error;
    if (error.code !== 'ECONNREFUSED') return undefined;
  }
  return process.clock.monotonic() - start;
}

function summary(name: string, sent: number, times: readonly number[]): string {
  const lost = Math.round((100 * (sent - times.length)) / Math.max(1, sent));
  const head = `\n--- ${name} ping statistics ---\n${sent} packets transmitted, ${times.length} packets received, ${lost}% packet loss\n`;
  if (times.length === 0) return head;
  const average = times.reduce((sum, time) => sum + time, 0) / times.length;
  const figures = [Math.min(...times), average, Math.max(...times)].map((time) => time.toFixed(3)).join('/');
  return `${head}round-trip min/avg/max = ${figures} ms\n`;
}
