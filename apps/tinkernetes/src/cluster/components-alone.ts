import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '@tinkernetes/component-base';
import type { ComponentStatus } from '../launcher/supervisor';
import type { ClusterLayout } from './layout';
import { writeAtomically } from './state';

/** A component that `tinkernetes run` has started beside its cluster. */
export interface ComponentAlone {
  instance: string;
  pid: number;
  /** What it said when it was ready, e.g. its ports. */
  info: Record<string, unknown>;
}

const directoryOf = (layout: ClusterLayout): string => join(layout.runDir, 'alone');

/** Lets `status` and `explain` find the component. Call the result when it has ended. */
export async function announceAlone(
  layout: ClusterLayout,
  component: ComponentAlone,
): Promise<() => Promise<void>> {
  const file = join(directoryOf(layout), `${component.instance}-${component.pid}.json`);
  await writeAtomically(file, JSON.stringify(component));
  return () => rm(file, { force: true });
}

/** Those that run now; what one left that was killed is forgotten. */
export async function componentsAlone(layout: ClusterLayout): Promise<ComponentAlone[]> {
  const directory = directoryOf(layout);
  const found: ComponentAlone[] = [];
  const names = (await unlessGone(readdir(directory))) ?? [];
  for (const name of names.filter((entry) => entry.endsWith('.json'))) {
    const file = join(directory, name);
    // Its component may end just now.
    const text = await unlessGone(readFile(file, 'utf8'));
    if (text === undefined) continue;
    const component = JSON.parse(text) as ComponentAlone;
    if (isAlive(component.pid)) found.push(component);
    else await rm(file, { force: true });
  }
  return found.sort((a, b) => a.instance.localeCompare(b.instance));
}

/** As a row of `tinkernetes status`: nobody starts it again when it ends. */
export const statusAlone = ({ instance, pid, info }: ComponentAlone): ComponentStatus => ({
  instance,
  state: 'running',
  pid,
  restarts: 0,
  info,
});

/** Those of which one leads and the others wait. */
const elected: readonly string[] = ['controller-manager', 'scheduler'];

/**
 * A UsageError where the instance runs already: two would take each other's sockets and ports. `running` is what runs of
 * the cluster, supervised or alone.
 */
export function requireFree(
  { app, instance }: { app: string; instance: string },
  running: ReadonlyArray<{ instance: string; pid?: number }>,
): void {
  const other = elected.includes(app) ? undefined : running.find((c) => c.instance === instance);
  if (!other) return;
  const pid = other.pid === undefined ? '' : ` (pid ${other.pid})`;
  throw new UsageError(
    `${instance} runs already${pid}: stop the cluster and start it with \`--without ${app}\` first`,
  );
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
