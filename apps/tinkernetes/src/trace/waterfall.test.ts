import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FinishedStep } from '@tinkernetes/component-base';
import { steps } from './steps';
import { waterfall } from './waterfall';

const span = (id: FinishedStep['id'], startMs: number, endMs: number): FinishedStep => ({
  id,
  traceId: 'abc',
  spanId: `${id}-${startMs}`,
  component: id.split('.')[0] ?? '',
  startMs,
  endMs,
  attributes: {},
});

it('lists all 46 steps in order, by number', () => {
  const text = waterfall([span('apiserver.decode', 1000, 1002)], { title: 'pod/x' });
  const rows = text.split('\n').slice(1, -1);
  expect(rows).toHaveLength(46);
  expect(rows.map((row) => row.slice(4).split(' ')[0])).toEqual(steps.map(([id]) => id));
  expect(rows[0]).toMatch(/^ 1 {2}kubectl\.command +missing/);
});

it('names the steps as docs/pod-steps.md does', () => {
  const text = readFileSync(join(__dirname, '../../../../docs/pod-steps.md'), 'utf8');
  const named = [...text.matchAll(/^\| (\d+) +\| `([a-z.]+)`/gm)].map(([, number, id]) => [
    Number(number),
    id,
  ]);
  expect(named).toEqual(steps.map(([id], index) => [index + 1, id]));
});

it('places a span by its start and length, relative to the whole trace', () => {
  const text = waterfall([span('apiserver.decode', 1000, 1010), span('kubelet.running', 1090, 1100)], {
    title: 'pod/x',
  });
  expect(text).toContain('pod/x: 2 of 46 steps, 2 spans, 100 ms, trace abc');
  expect(text).toMatch(/12 {2}apiserver\.decode +█{4} +0 ms +\+10\.0 ms/);
  expect(text).toMatch(/46 {2}kubelet\.running +█{4} +90 ms +\+10\.0 ms/);
});

it('shows no negative length where two clocks differ', () => {
  expect(waterfall([span('kubelet.hooks', 1000, 999.8)], { title: 't' })).toMatch(/ \+0\.0 ms/);
});

it('counts repeated steps, and shows each on demand', () => {
  const spans = [span('runtime.start', 0, 1), span('runtime.start', 5, 6)];
  expect(waterfall(spans, { title: 't' })).toContain('×2');
  expect(waterfall(spans, { title: 't', all: true }).match(/runtime\.start/g)).toHaveLength(2);
});
