import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Storage } from '../types';
import { text, WatchRecording } from './collect';

/** Acknowledged writes by revision, as the killed processes printed them. */
export type Acknowledged = Map<number, { key: string; value: string }>;

/** Lets writers run until `kill` has been called and the process has ended; returns what they were told is kept. */
export async function collectAcknowledged(
  argv: readonly string[],
  kill: (child: ChildProcess) => Promise<void>,
): Promise<Acknowledged> {
  const child = spawn(process.execPath, [...argv], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const closed = once(child, 'close');
  await Promise.race([
    once(child.stdout, 'data'),
    closed.then(() => {
      throw new Error('the writers ended before they started writing');
    }),
  ]);
  await kill(child);
  await closed;
  const lines = output.slice(0, output.lastIndexOf('\n')).split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const [key = '', revision = '', value = ''] = line.split(' ');
      return [Number(revision), { key, value }] as const;
    }),
  );
}

/** Every acknowledged write is in the history with its revision and bytes; the history has no gap and ends at now. */
export async function verifyAcknowledged(storage: Storage, acknowledged: Acknowledged): Promise<void> {
  const now = await storage.currentRevision();
  const watch = await new WatchRecording(storage, '/crash/', 1).reached(now);
  await watch.stop();
  const revisions = watch.events.map(({ revision }) => revision);
  expect(revisions).toEqual(Array.from({ length: now - 1 }, (_, i) => i + 2));
  const newest = new Map<string, string>();
  for (const { type, key, current } of watch.events) {
    if (type === 'DELETE') newest.delete(key);
    else newest.set(key, text(current) ?? '');
  }
  for (const [revision, { key, value }] of acknowledged) {
    const event = watch.events[revision - 2];
    const found = event && `${event.key} ${event.type === 'DELETE' ? '-' : text(event.current)}`;
    if (found !== `${key} ${value}`)
      throw new Error(`revision ${revision}: acknowledged ${key} ${value}, found ${found}`);
  }
  const { items } = await storage.range('/crash/');
  expect(Object.fromEntries(items.map((item) => [item.key, text(item)]))).toEqual(
    Object.fromEntries([...newest].sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}
