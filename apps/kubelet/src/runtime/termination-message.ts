import type { Container } from '@tinkernetes/api';
import { open } from 'node:fs/promises';
import type { RuntimeContainer } from './pod-runtime-status';

/** Limits of the termination message. Source: pkg/kubelet/container MaxContainerTerminationMessageLength. */
const maxMessageBytes = 4096;
const maxLogMessageBytes = 2048;
const maxLogLines = 80;

/**
 * The container's last words: what it wrote to its terminationMessagePath or, where it failed without writing and the
 * policy says so, the end of its log.
 */
export async function terminationMessage(
  container: Pick<Container, 'terminationMessagePolicy'> | undefined,
  exited: RuntimeContainer,
): Promise<string> {
  const { path } = exited.lastWords;
  const written = await readEnd(path, maxMessageBytes, 'start');
  if (written) return written;
  const policy = container?.terminationMessagePolicy ?? exited.lastWords.policy;
  if (policy !== 'FallbackToLogsOnError' || exited.exitCode === 0) return exited.message;
  const log = await readEnd(exited.logPath, maxLogMessageBytes * 2, 'end');
  const lines = log.split('\n').filter(Boolean).map(logText).slice(-maxLogLines);
  return Buffer.from(lines.join('\n')).subarray(-maxLogMessageBytes).toString();
}

/** The text of a line in CRI log format: `<time> <stream> <P|F> <text>`. */
function logText(line: string): string {
  return line.split(' ').slice(3).join(' ');
}

async function readEnd(path: string, bytes: number, from: 'start' | 'end'): Promise<string> {
  if (!path) return '';
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const length = Math.min(size, bytes);
      const buffer = Buffer.alloc(length);
      await file.read(buffer, 0, length, from === 'start' ? 0 : size - length);
      return buffer.toString();
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
