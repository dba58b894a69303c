// What a create and a watch event cost as the objects become more: both must stay flat (± 20 %).
import { head, row, shown } from './markdown-table.mjs';

/** Of each point the last so many creates are watched, the ones before are not. */
const watched = { watchers: 150, creates: 600 };
const latencyCreates = 50;
const first = 1000;

/** 1,000, then ten steps to `upTo`, or as many as there are thousands. */
export function pointsUpTo(upTo) {
  const step = Math.max(first, Math.round(upTo / 10));
  const counts = Array.from({ length: Math.floor(upTo / step) }, (_, i) => step * (i + 1));
  return [first, ...counts.filter((count) => count > first)];
}

/**
 * Returns the points: `{ count, createMs, eventMs, latencyMs, residentMB }`. Before the first one so many objects have
 * been created, watched and deleted again, so that none of them holds the time in which the code becomes fast.
 */
export async function measureGrowth(load, { upTo, warmUp }) {
  await load.prepare();
  await warm(load, warmUp);
  console.log(
    head([
      'objects',
      'creates per second',
      "server's CPU per create, ms",
      `per event to ${watched.watchers} watchers, with its share of the create, µs`,
      'create to event, p50 ms',
      'resident MB',
    ]),
  );
  const points = [];
  let made = 0;
  for (const count of pointsUpTo(upTo)) {
    const alone = count - made - watched.creates - latencyCreates;
    const creates = await load.probe.during(() =>
      load.measure('', alone, (i) => load.create(`alone-${count}-${i}`)),
    );
    const latencyMs = await load.eventLatency(latencyCreates, `single-${count}`);
    const events = await load.fanOut({ ...watched, prefix: `watched-${count}` });
    // With a share of the create that caused it: what is measured, and not a small difference of large numbers.
    const { cpuMs: eventMs, residentMB } = events;
    points.push({ count, createMs: creates.cpuMs, eventMs, latencyMs, residentMB });
    console.log(
      row([
        shown(count),
        shown(creates.perSecond),
        shown(creates.cpuMs, 3),
        shown(eventMs * 1000, 1),
        shown(latencyMs, 2),
        shown(residentMB),
      ]),
    );
    made = count;
  }
  for (const [name, values] of [
    ['create', points.map(({ createMs }) => createMs)],
    ['watch event', points.map(({ eventMs }) => eventMs)],
  ])
    console.log(`\n${name}: ${spread(values)} of the mean`);
  await load.cleanUp();
  return points;
}

async function warm(load, count) {
  const round = 2000;
  for (let made = 0; made < count; made += round) await load.warmUp(Math.min(round, count - made));
  await load.fanOut({ ...watched, prefix: 'warm-watched' });
  await load.measure('', watched.creates, (i) => load.delete(`warm-watched-${i}`));
}

function spread(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const percent = (value) => `${value < mean ? '−' : '+'}${shown(Math.abs(value / mean - 1) * 100)} %`;
  return `${percent(Math.min(...values))} to ${percent(Math.max(...values))}`;
}
