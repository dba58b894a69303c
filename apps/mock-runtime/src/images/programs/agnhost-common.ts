import type { ServerResponse } from 'node:http';
import type { Process } from '../../kernel/process';

export type Subcommand = (process: Process, args: readonly string[]) => Promise<number>;

export const flag = (args: readonly string[], name: string): string | undefined => {
  const inline = args.find((arg) => arg.startsWith(`--${name}=`));
  if (inline) return inline.slice(name.length + 3);
  const at = args.indexOf(`--${name}`);
  return at < 0 ? undefined : args[at + 1];
};

export const answer = (response: ServerResponse, text: string, status = 200): void => {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(text);
};

export async function untilStopped(process: Process): Promise<number> {
  await process.untilSignal('SIGTERM', 'SIGINT');
  return 0;
}
