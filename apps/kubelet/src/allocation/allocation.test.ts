import type { Node, Pod } from '@tinkernetes/api';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AllocationManager } from './allocation-manager';
import { AllocationStore } from './allocation-store';

const node: Node = {
  metadata: { name: 'n' },
  spec: {},
  status: { allocatable: { cpu: '2', memory: '2Gi', pods: '10' } },
};
const pod = (name: string, cpu: string, generation = 1): Pod => ({
  metadata: { name, uid: name, generation },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
});
const cpuOf = (p: Pod) => p.spec.containers[0]?.resources?.requests?.cpu;

describe('AllocationManager', () => {
  const directory = mkdtempSync(join(tmpdir(), 'allocation-'));
  const file = join(directory, 'allocated_pods_state');
  let active: Pod[];
  let told: string[];
  let manager: AllocationManager;
  const start = () => {
    const events = {
      pod: (_: Pod, type: string, reason: string, message: string) =>
        told.push(`${type} ${reason} ${message}`),
      container: () => undefined,
    };
    const store = new AllocationStore(file, silentLogger);
    return new AllocationManager({
      store,
      events: events as unknown as ConstructorParameters<typeof AllocationManager>[0]['events'],
      node: () => node,
      activePods: () => active,
    });
  };
  beforeEach(() => {
    active = [];
    told = [];
    rmSync(file, { force: true });
    manager = start();
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('gives a new Pod what it asks for, and says nothing', () => {
    expect(cpuOf(manager.update(pod('a', '1')))).toBe('1');
    expect(manager.conditions('a')).toEqual([]);
    expect(told).toEqual([]);
  });

  it('gives more at once where there is enough, and is in progress until the runtime has it', () => {
    manager.update(pod('a', '1'));
    const grown = manager.update(pod('a', '1500m', 2));
    expect(cpuOf(grown)).toBe('1500m');
    expect(manager.conditions('a')).toEqual([{ type: 'PodResizeInProgress' }]);
    manager.actuated(grown, undefined);
    expect(manager.conditions('a')).toEqual([]);
    const resources = '{"containers":[{"name":"c","resources":{"requests":{"cpu":"1500m"}}}],"generation":2}';
    expect(told).toEqual([
      `Normal ResizeStarted Pod resize started: ${resources}`,
      `Normal ResizeCompleted Pod resize completed: ${resources}`,
    ]);
  });

  it('keeps what the Pod has while others have the rest, and gives it when they leave', () => {
    active = [manager.update(pod('a', '500m')), manager.update(pod('b', '1'))];
    expect(cpuOf(manager.update(pod('a', '1500m', 2)))).toBe('500m');
    const message = "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000";
    expect(manager.conditions('a')).toEqual([{ type: 'PodResizePending', reason: 'Deferred', message }]);
    manager.update(pod('a', '1500m', 2));
    expect(told).toHaveLength(1);
    active = active.slice(0, 1);
    expect(cpuOf(manager.update(pod('a', '1500m', 2)))).toBe('1500m');
    expect(manager.conditions('a')).toEqual([{ type: 'PodResizeInProgress' }]);
  });

  it('gives the Pod as a whole more, or keeps what it has', () => {
    const whole = (cpu: string) => {
      const { spec, ...rest } = pod('a', '100m');
      return { ...rest, spec: { ...spec, resources: { requests: { cpu } } } };
    };
    const given = (p: Pod) => p.spec.resources?.requests?.cpu;
    expect(given(manager.update(whole('1')))).toBe('1');
    expect(given(manager.update(whole('1500m')))).toBe('1500m');
    expect(given(manager.update(whole('3')))).toBe('1500m');
    expect(manager.conditions('a')).toContainEqual(
      expect.objectContaining({ type: 'PodResizePending', reason: 'Infeasible' }),
    );
  });

  it('counts others by what they have, not by what they ask for', () => {
    active = [manager.update(pod('a', '500m')), manager.update(pod('b', '1'))];
    manager.update(pod('a', '1800m', 2));
    active = [pod('a', '1800m', 2), pod('b', '1')];
    expect(cpuOf(manager.update(pod('b', '1400m', 2)))).toBe('1400m');
  });

  it('never gives more than the node has', () => {
    manager.update(pod('a', '1'));
    manager.update(pod('a', '5', 2));
    expect(manager.conditions('a')).toEqual([
      {
        type: 'PodResizePending',
        reason: 'Infeasible',
        message: "Node didn't have enough capacity: cpu, requested: 5000, capacity: 2000",
      },
    ]);
    expect(told[0]).toContain('Warning ResizeInfeasible Pod resize Infeasible: ');
    manager.update(pod('a', '1', 3));
    expect(manager.conditions('a')).toEqual([]);
  });

  it('says why the runtime could not do it', () => {
    manager.update(pod('a', '1'));
    const grown = manager.update(pod('a', '2', 2));
    manager.actuated(grown, new Error('no such cgroup'));
    expect(manager.conditions('a')).toEqual([
      { type: 'PodResizeInProgress', reason: 'Error', message: 'no such cgroup' },
    ]);
    manager.actuated(grown, undefined);
    expect(manager.conditions('a')).toEqual([]);
  });

  it('knows after a restart what a Pod has that asks for more', () => {
    manager.update(pod('a', '1'));
    manager.update(pod('a', '5', 2));
    manager = start();
    expect(cpuOf(manager.update(pod('a', '5', 2)))).toBe('1');
    expect(manager.conditions('a')).toMatchObject([{ reason: 'Infeasible' }]);
  });

  it.each([
    ['cut off', (text: string) => text.slice(0, -20)],
    ['changed', (text: string) => text.replace('"1"', '"9"')],
    ['something else', () => 'null'],
  ])('goes on with a checkpoint that is %s, as if there were none', (_, damage) => {
    manager.update(pod('a', '1'));
    manager.update(pod('a', '5', 2));
    writeFileSync(file, damage(readFileSync(file, 'utf8')));
    manager = start();
    expect(cpuOf(manager.update(pod('a', '5', 2)))).toBe('5');
  });
});
