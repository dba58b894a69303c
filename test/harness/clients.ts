import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}
export interface CommandOptions {
  input?: string;
  timeoutMs?: number;
  env?: Record<string, string>;
}

const binDir = process.env.TINKERNETES_CLIENTS ?? join(__dirname, '../clients/bin');

/** An unmodified command-line client against one cluster. */
export class CommandLineClient {
  private readonly home = mkdtempSync(join(tmpdir(), 'tk-home-'));

  constructor(
    private readonly tool: 'kubectl' | 'helm',
    readonly version: '28' | '32' | '35',
    private readonly kubeconfig: string,
  ) {}

  /** Runs to its end, whatever the exit code. */
  async try(
    args: readonly string[],
    { input, timeoutMs = 150_000, env }: CommandOptions = {},
  ): Promise<CommandResult> {
    const child = this.spawn(args, env);
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdin?.end(input ?? '');
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    clearTimeout(timer);
    return { code, stdout, stderr };
  }

  /** As `try`, but a failure is an error that shows what was printed. Resolves with stdout. */
  async run(args: readonly string[], options?: CommandOptions): Promise<string> {
    const result = await this.try(args, options);
    if (result.code !== 0) {
      throw new Error(
        `${this.tool} ${args.join(' ')} ended with ${result.code}:\n${result.stdout}${result.stderr}`,
      );
    }
    return result.stdout;
  }

  async json<T = Record<string, unknown>>(args: readonly string[]): Promise<T> {
    return JSON.parse(await this.run([...args, '-o', 'json'])) as T;
  }

  /** Of the program itself. */
  get path(): string {
    return join(binDir, `${this.tool}-1.${this.version}`);
  }

  /** Left running; the caller ends it. */
  spawn(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
    return spawn(this.path, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: this.home, KUBECONFIG: this.kubeconfig, ...env },
    });
  }
}

/** Collects what a running command prints; waits for a text in it. */
export function transcript(child: ChildProcess): {
  text(): string;
  until(pattern: RegExp | string, timeoutMs?: number): Promise<string>;
} {
  let text = '';
  const waiting = new Set<() => void>();
  const add = (chunk: Buffer) => {
    text += chunk.toString();
    for (const check of waiting) check();
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return {
    text: () => text,
    until: (pattern, timeoutMs = 90_000) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`no ${String(pattern)} within ${timeoutMs} ms in:\n${text}`));
        }, timeoutMs);
        const check = () => {
          if (typeof pattern === 'string' ? !text.includes(pattern) : !pattern.test(text)) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(text);
        };
        waiting.add(check);
        check();
      }),
  };
}
