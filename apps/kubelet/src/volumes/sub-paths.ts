import type { VolumeMount } from '@tinkernetes/api';
import { chmod, link, mkdir, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { Environment } from '../environment/environment';
import { expand } from '../environment/expansion';
import { ignoreMissing } from './atomic-writer';

/** The part of the volume that the mount names, if any. Source: pkg/kubelet makeMounts, ExpandContainerVolumeMounts. */
export function subPathOf(mount: VolumeMount, env: Environment): string {
  const path = mount.subPathExpr ? expanded(mount.subPathExpr, env) : (mount.subPath ?? '');
  if (path.startsWith('/')) throw new Error(`error SubPath \`${path}\` must not be an absolute path`);
  if (normalize(path).split('/').includes('..'))
    throw new Error(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return path;
}

function expanded(expression: string, env: Environment): string {
  const missing = new Set<string>();
  const path = expand(expression, (name) => {
    const value = env.get(name);
    if (!value) missing.add(name);
    return value ?? '';
  });
  if (missing.size > 0) throw new Error(`missing value for ${[...missing].sort().join(', ')}`);
  return path;
}

/**
 * A sub path that doesn't exist becomes a directory. Links that a container has left may not lead out of the volume.
 * Source: pkg/volume/util/subpath.
 */
export async function subPathIn(volume: string, subPath: string): Promise<string> {
  const path = join(volume, subPath);
  const root = await realpath(volume);
  await checkWithin(root, volume, path);
  if (!(await stat(path).catch(ignoreMissing))) {
    await mkdir(path, { recursive: true });
    // Who may write to the volume may write here.
    await chmod(path, (await stat(root)).mode & 0o7777);
  }
  return path;
}

/** The text of a file in a volume, to which links may not lead out of it; undefined: there is none. */
export async function fileIn(volume: string, path: string): Promise<string | undefined> {
  const file = join(volume, path);
  await checkWithin(await realpath(volume), volume, file);
  return (await readFile(file, 'utf8').catch(ignoreMissing)) ?? undefined;
}

/**
 * Keeps a part of a projected volume as it is now, whatever becomes of the volume: what a bind mount does upstream, which
 * needs root. The same files under other names, so that it costs nothing. Resolves with `target`.
 */
export async function keptAside(source: string, target: string): Promise<string> {
  await rm(target, { recursive: true, force: true });
  await mkdir(dirname(target), { recursive: true });
  await linkTree(await realpath(source), target);
  return target;
}

async function linkTree(source: string, target: string): Promise<void> {
  const found = await stat(source);
  if (!found.isDirectory()) return link(source, target);
  await mkdir(target);
  await chmod(target, found.mode & 0o7777);
  for (const name of await readdir(source))
    await linkTree(await realpath(join(source, name)), join(target, name));
}

/** What there is of the path, followed through its links. */
async function checkWithin(root: string, volume: string, path: string): Promise<void> {
  for (let existing = path; existing.length > volume.length; existing = dirname(existing)) {
    const real = await realpath(existing).catch(ignoreMissing);
    if (real === undefined) continue;
    if (real !== root && !real.startsWith(`${root}/`))
      throw new Error(`subpath "${path}" not within volume path "${volume}"`);
    return;
  }
}
