import type { Container } from '@tinkernetes/api';
import { open } from 'node:fs/promises';
import type { RuntimeContainer } from './pod-runtime-status';

/** Limits of the termination message. Source: pkg/kubelet/container MaxContainerTerminationMessageLength. */
const maxMessageBytes = 4096;
const maxLogMessageBytes = 2048;
const maxLogLines = 80;
const maxPodBytes = 12 * 1024;
/** A line of a log is at most 16 KiB long (a longer one is in parts) and has a time before it. */
const maxLogBytes = 2 * 17 * 1024;

/**
 * The container's last words: what it wrote to its terminationMessagePath or, where it failed without writing and the
 * policy says so, the end of its log. The containers of a Pod share what there is room for.
 * Source: https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/
 */
export async function terminationMessage(
  container: Pick<Container, 'terminationMessagePolicy'> | undefined,
  exited: RuntimeContainer,
  containersOfPod: number,
): Promise<string> {
  const message = await lastWords(container, exited);
  const limit = Math.floor(maxPodBytes / Math.max(1, containersOfPod));
  return message.length * 4 <= limit ? message : Buffer.from(message).subarray(0, limit).toString();
}

async function lastWords(
  container: Pick<Container, 'terminationMessagePolicy'> | undefined,
  exited: RuntimeContainer,
): Promise<string> {
  const written = await readEnd(exited.lastWords.path, maxMessageBytes);
  if (written.bytes.length > 0) return written.bytes.toString();
  const policy = container?.terminationMessagePolicy ?? exited.lastWords.policy;
  if (policy !== 'FallbackToLogsOnError' || exited.exitCode === 0) return exited.message;
  const { bytes, isWhole } = await readEnd(exited.logPath, maxLogBytes);
  const lines = bytes.toString().split('\n').filter(Boolean);
  const text = (isWhole ? lines : lines.slice(1)).slice(-maxLogLines).map(logText).join('');
  return Buffer.from(text).subarray(-maxLogMessageBytes).toString();
}

/** The text of a line in CRI log format: `<time> <stream> <P|F> <text>`; P: the line goes on. */
function logText(line: string): string {
  const [, tag, text = ''] = /^\S+ \S+ (\S+) (.*)$/s.exec(line) ?? [];
  return tag === 'P' ? text : `${text}\n`;
}

async function readEnd(path: string, maxBytes: number): Promise<{ bytes: Buffer; isWhole: boolean }> {
  if (!path) return { bytes: Buffer.alloc(0), isWhole: true };
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.min(size, maxBytes));
      await file.read(bytes, 0, bytes.length, size - bytes.length);
      return { bytes, isWhole: size <= maxBytes };
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { bytes: Buffer.alloc(0), isWhole: true };
    throw error;
  }
}
