import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientConfig } from '@tinkernetes/client';
import { startComponent, type StartedComponent } from '@tinkernetes/component-base/testing';
import { kubeconfigText } from '@tinkernetes/testing';
import { component } from '../index';

/** The scheduler as its process runs it, in this one. */
export async function startScheduler(
  config: ClientConfig,
  more: readonly string[] = [],
): Promise<StartedComponent> {
  const folder = mkdtempSync(join(tmpdir(), 'scheduler-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText(config));
  const scheduler = await startComponent(component, [`--kubeconfig=${kubeconfig}`, ...more]);
  return {
    info: scheduler.info,
    async stop() {
      await scheduler.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
