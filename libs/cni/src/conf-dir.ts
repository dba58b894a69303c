import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { NetworkConfigList } from './types';
import { errorCode } from './error-code';

const extensions = ['.conflist', '.conf', '.json'];

/** The network that a runtime uses: the first file, by name, that holds one. Undefined: none yet. */
export async function loadNetwork(dir: string): Promise<NetworkConfigList | undefined> {
  for (const name of await configFiles(dir)) {
    const list = asList(JSON.parse(await readFile(join(dir, name), 'utf8')) as Record<string, unknown>);
    if (list && list.plugins.length > 0) return list;
  }
  return undefined;
}

export async function configFiles(dir: string): Promise<string[]> {
  try {
    const names = await readdir(dir);
    return names.filter((name) => extensions.includes(extname(name))).sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A single plugin's `.conf` is a list of one. */
function asList(value: Record<string, unknown>): NetworkConfigList | undefined {
  if (Array.isArray(value.plugins)) return value as unknown as NetworkConfigList;
  if (typeof value.type !== 'string') return undefined;
  return {
    cniVersion: typeof value.cniVersion === 'string' ? value.cniVersion : '0.2.0',
    name: typeof value.name === 'string' ? value.name : '',
    plugins: [value as { type: string }],
  };
}
