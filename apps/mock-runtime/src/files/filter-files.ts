import { posix } from 'node:path';
import type { FsStat, IFileSystem } from 'just-bash';
import type { Process } from '../kernel/process';
import { FileError } from './file-error';
import type { FileInfo } from './file-info';
import type { FileSystem } from './file-system';

type Content = string | Uint8Array;
type Encoding = { encoding?: string | null } | string | undefined;

/** The container's files as just-bash's commands want them. Its own world of commands stays out: /bin is not shown. */
export class FilterFiles implements IFileSystem {
  private readonly fs: FileSystem;

  constructor(private readonly process: Process) {
    this.fs = process.fs;
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    return (await this.readFileBuffer(path)).toString(encodingOf(options));
  }

  async readFileBuffer(path: string): Promise<Buffer> {
    // What a process substitution has written.
    const descriptor = /^\/dev\/fd\/(\d+)$/.exec(path)?.[1];
    if (descriptor === undefined) return this.read(path);
    return this.process.file(Number(descriptor)).readAll(this.process.signal);
  }

  async writeFile(path: string, content: Content, options?: Encoding): Promise<void> {
    this.fs.writeFile(path, bytesOf(content, options), { user: this.process.user });
  }

  async appendFile(path: string, content: Content, options?: Encoding): Promise<void> {
    this.fs.writeFile(path, bytesOf(content, options), { append: true, user: this.process.user });
  }

  async exists(path: string): Promise<boolean> {
    const descriptor = /^\/dev\/fd\/(\d+)$/.exec(path)?.[1];
    return descriptor === undefined ? this.fs.exists(path) : this.process.files.has(Number(descriptor));
  }

  async stat(path: string): Promise<FsStat> {
    return told(path, () => toStat(this.fs.stat(path)));
  }

  async lstat(path: string): Promise<FsStat> {
    return told(path, () => toStat(this.fs.lstat(path)));
  }

  async mkdir(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    told(path, () => this.fs.mkdir(path, { parents: options.recursive }));
  }

  async readdir(path: string): Promise<string[]> {
    return told(path, () => this.fs.readdir(path));
  }

  async rm(path: string, { recursive = false, force = false } = {}): Promise<void> {
    if (force && !this.fs.exists(path)) return;
    told(path, () => {
      if (this.fs.lstat(path).kind !== 'directory') return this.fs.unlink(path);
      if (recursive)
        for (const name of this.fs.readdir(path)) void this.rm(posix.join(path, name), { recursive, force });
      this.fs.rmdir(path);
    });
  }

  async cp(from: string, to: string): Promise<void> {
    told(from, () => this.fs.copyFile(from, to));
  }

  async mv(from: string, to: string): Promise<void> {
    told(from, () => this.fs.rename(from, to));
  }

  resolvePath(base: string, path: string): string {
    return posix.resolve(base, path);
  }

  getAllPaths(): string[] {
    return [];
  }

  async chmod(path: string, mode: number): Promise<void> {
    told(path, () => this.fs.chmod(path, mode));
  }

  async symlink(target: string, path: string): Promise<void> {
    told(path, () => this.fs.symlink(target, path));
  }

  async link(from: string, to: string): Promise<void> {
    told(from, () => this.fs.copyFile(from, to));
  }

  async readlink(path: string): Promise<string> {
    return told(path, () => this.fs.readlink(path));
  }

  async realpath(path: string): Promise<string> {
    return told(path, () => this.fs.realpath(path));
  }

  async utimes(path: string, _atime: Date, mtime: Date): Promise<void> {
    told(path, () => this.fs.utimes(path, mtime.getTime()));
  }

  private read(path: string): Buffer {
    return told(path, () => this.fs.readFile(path));
  }
}

/** just-bash recognises errors by Node's wording. */
function told<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new Error(`${error.code}: ${error.message.toLowerCase()}, '${path}'`, { cause: error });
  }
}

function toStat({ kind, mode, size, mtime }: FileInfo): FsStat {
  return {
    isFile: kind !== 'directory' && kind !== 'link',
    isDirectory: kind === 'directory',
    isSymbolicLink: kind === 'link',
    mode,
    size,
    mtime: new Date(mtime),
  };
}

const encodingOf = (options: Encoding): BufferEncoding =>
  ((typeof options === 'string' ? options : options?.encoding) ?? 'utf8') as BufferEncoding;

function bytesOf(content: Content, options: Encoding): Buffer {
  return typeof content === 'string' ? Buffer.from(content, encodingOf(options)) : Buffer.from(content);
}
