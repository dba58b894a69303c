import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '@tinkernetes/component-base';
import type { ClusterLayout } from './layout';

/** What a data directory remembers of its cluster, in `cluster.json`. */
export interface ClusterState {
  /** Layout version of the data directory. */
  version: 1;
  id: string;
  /** The port of the last start; the next one takes it again, so that kubeconfigs stay valid. */
  apiPort: number;
  bootstrapToken: string;
}

/** undefined: a new cluster. A damaged or newer file is refused; nothing is overwritten. */
export async function readState(layout: ClusterLayout): Promise<ClusterState | undefined> {
  let text: string;
  try {
    text = await readFile(layout.stateFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`can't read ${layout.stateFile}: ${(error as Error).message}`);
  }
  let state: ClusterState;
  try {
    state = JSON.parse(text) as ClusterState;
  } catch (error) {
    throw new UsageError(`${layout.stateFile} is damaged: restore it, or choose another --data-dir`, {
      cause: error,
    });
  }
  if (state.version !== 1) {
    throw new UsageError(
      `${layout.dataDir} was written by another version of Tinkernetes (layout ${String(state.version)}): use that version, or choose another --data-dir`,
    );
  }
  return state;
}

export const writeState = (layout: ClusterLayout, state: ClusterState): Promise<void> =>
  writeAtomically(layout.stateFile, `${JSON.stringify(state, null, 2)}\n`);

/** Readers see the old content or the new one, never a part. Mode 0600: these files hold keys and tokens. */
export async function writeAtomically(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch (error) {
    throw new UsageError(
      `can't write ${file}: ${(error as Error).message}. Free space, or choose a folder that can be written, with --data-dir`,
      { cause: error },
    );
  }
}
