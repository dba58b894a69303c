import type { Clock } from '@tinkernetes/component-base';
import { CriError, type ExecSyncRequest } from '@tinkernetes/cri';
import type { RuntimeState } from '../containers/runtime-state';
import { OpenFile } from '../kernel/open-file';

/** containerd keeps 16 MiB of each stream at most. */
const maxOutput = 16 * 1024 * 1024;

function collector() {
  const chunks: Buffer[] = [];
  let size = 0;
  const file = new OpenFile({
    write: (data) => {
      if (size < maxOutput) chunks.push(data);
      size += data.length;
    },
  });
  return { file, content: () => Buffer.concat(chunks).subarray(0, maxOutput) };
}

/** Runs a command to its end and gives its output (exec probes, lifecycle hooks). */
export async function execSync(
  state: RuntimeState,
  clock: Clock,
  { containerId, cmd, timeout }: ExecSyncRequest,
): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }> {
  const container = state.container(containerId);
  if (container.isRefusing)
    return { stdout: Buffer.alloc(0), stderr: Buffer.from('scripted to be unready\n'), exitCode: 1 };
  const stdout = collector();
  const stderr = collector();
  const process = await container.exec({ argv: cmd, stdout: stdout.file, stderr: stderr.file });
  let timedOut = false;
  const timer =
    timeout > 0
      ? clock.setTimeout(() => {
          timedOut = true;
          process.kill('SIGKILL');
        }, timeout * 1000)
      : undefined;
  const exitCode = await process.exited;
  timer?.cancel();
  if (timedOut)
    throw new CriError(
      'DEADLINE_EXCEEDED',
      `failed to exec in container: timeout ${timeout}s exceeded: context deadline exceeded`,
    );
  return { stdout: stdout.content(), stderr: stderr.content(), exitCode };
}
