import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFlags } from '@tinkernetes/component-base';
import { flags } from '../options';
import { configurationText, effectiveConfiguration } from './effective-configuration';

describe('the configuration that is used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scheduler-effective-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const from = (...argv: string[]) => effectiveConfiguration(parseFlags(flags, argv));

  it('can be written, and read again', async () => {
    const policy = join(folder, 'policy.json');
    const text = {
      kind: 'Policy',
      predicates: [{ name: 'PodFitsResources' }],
      priorities: [{ name: 'MostRequestedPriority', weight: 2 }],
      extenders: [{ urlPrefix: 'http://127.0.0.1:1', filterVerb: 'filter', nodeCacheCapable: true }],
    };
    writeFileSync(policy, JSON.stringify(text));
    const first = await from(`--policy-config-file=${policy}`);
    const written = join(folder, 'config.yaml');
    writeFileSync(written, await configurationText(first));
    expect((await from(`--config=${written}`)).scheduler).toEqual(first.scheduler);
    expect(readFileSync(written, 'utf8')).toContain('kind: KubeSchedulerConfiguration');
  });

  it('takes upstream’s flag for Pods that fit nowhere', async () => {
    const { scheduler } = await from('--pod-max-in-unschedulable-pods-duration=1m');
    expect(scheduler.podMaxUnschedulableMs).toBe(60_000);
  });
});
