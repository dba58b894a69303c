import { absolute } from '../../commands/paths';
import { FileError } from '../../files/file-error';
import type { Process } from '../../kernel/process';
import type { RedisConfig } from './redis-config';
import type { RedisData, Reply } from './redis-data';
import { encodeCommand, parseCommand } from './redis-protocol';

/**
 * The file by which redis' keys outlive it: written by SAVE and at the end, read at the start. It holds the commands that
 * make them, as an append-only file does, instead of RDB's binary format. Source: redis.io, Persistence.
 */
export class RedisSnapshot {
  constructor(
    private readonly process: Process,
    private readonly config: RedisConfig,
    private readonly data: RedisData,
  ) {}

  /** `save ""` keeps nothing at the end. */
  get isWanted(): boolean {
    return this.config.get('save') !== '';
  }

  /** Why the file can't be read; undefined: it was, or there is none. */
  load(): string | undefined {
    if (!this.process.fs.exists(this.file)) return undefined;
    try {
      this.read(this.process.fs.readFile(this.file).toString('latin1'));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  save(): Reply {
    const text = this.data.dump().map(encodeCommand).join('');
    const draft = `${this.file}.${this.process.pid}`;
    try {
      this.process.fs.writeFile(draft, Buffer.from(text, 'latin1'), { user: this.process.user });
      this.process.fs.rename(draft, this.file);
      return 'OK';
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return new Error(`ERR ${error.message}`);
    }
  }

  private read(text: string): void {
    let rest = text;
    while (rest !== '') {
      const parsed = rest.startsWith('*') ? parseCommand(rest) : undefined;
      if (!parsed) throw new Error('Wrong signature trying to load DB from file');
      rest = rest.slice(parsed.length);
      this.data.run(parsed.command);
    }
  }

  private get file(): string {
    return absolute(this.process, `${this.config.get('dir')}/${this.config.get('dbfilename')}`);
  }
}
