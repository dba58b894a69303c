import { posix } from 'node:path';
import { Readable } from 'node:stream';
import type { Header, Pack } from 'tar-stream';
import { FileError } from '../files/file-error';
import { openPath } from '../files/open-path';
import type { Process } from '../kernel/process';
import { absolute } from './paths';

/** `tar` as `kubectl cp` and scripts use it: `cf - PATH`, `xmf - -C DIR`, `tf FILE`, with `-z`. */
export async function tar(process: Process): Promise<number> {
  const { mode, file, directory, verbose, gzip, names } = parseTar(process.argv.slice(1));
  const base = absolute(process, directory);
  if (mode === 'c') return create(process, { base, file, gzip, names });
  if (mode === 'x' || mode === 't')
    return extract(process, { base, file, gzip, list: mode === 't', verbose });
  await process.complain('tar: need at least one option\n');
  return 1;
}

function parseTar(args: readonly string[]) {
  let mode = '';
  let file = '-';
  let directory = '.';
  let verbose = false;
  let gzip = false;
  const names: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === '-C') directory = args[++i] ?? '.';
    else if (arg.startsWith('--')) continue;
    else if (i === 0 || /^-[a-zA-Z]/.test(arg)) {
      for (const letter of arg.replace(/^-/, '')) {
        if ('cxt'.includes(letter)) mode = letter;
        if (letter === 'v') verbose = true;
        if (letter === 'z') gzip = true;
        if (letter === 'f') file = args[++i] ?? '-';
        if (letter === 'C') directory = args[++i] ?? '.';
      }
    } else names.push(arg);
  }
  return { mode, file, directory, verbose, gzip, names };
}

interface CreateOptions {
  base: string;
  file: string;
  gzip: boolean;
  names: readonly string[];
}

async function create(process: Process, { base, file, gzip, names }: CreateOptions): Promise<number> {
  const { pack: newPack } = await import('tar-stream');
  const pack = newPack();
  let status = 0;
  const adding = (async () => {
    for (const name of names) {
      const path = posix.resolve(base, name);
      if (!process.fs.exists(path)) {
        await process.complain(`tar: ${name}: No such file or directory\n`);
        status = 2;
      } else add(process, pack, path, name.replace(/^\/+/, ''));
    }
    pack.finalize();
  })();
  const output = file === '-' ? process.stdout.retain() : openPath(process, absolute(process, file), 'write');
  let source: AsyncIterable<unknown> = pack as unknown as AsyncIterable<unknown>;
  if (gzip) source = Readable.from(source).pipe((await import('node:zlib')).createGzip());
  for await (const chunk of source) await output.write(chunk as Buffer);
  output.release();
  await adding;
  return status;
}

function add(process: Process, pack: Pack, path: string, name: string): void {
  const { fs } = process;
  const info = fs.lstat(path);
  const header = { name, mode: info.mode, uid: info.uid, gid: info.gid, mtime: new Date(info.mtime) };
  if (info.kind === 'link') pack.entry({ ...header, type: 'symlink', linkname: fs.readlink(path) });
  else if (info.kind === 'directory') {
    pack.entry({ ...header, name: `${name}/`, type: 'directory' });
    for (const child of fs.readdir(path))
      add(process, pack, posix.join(path, child), posix.join(name, child));
  } else if (info.kind === 'file') pack.entry(header, fs.readFile(path));
}

interface ExtractOptions {
  base: string;
  file: string;
  gzip: boolean;
  list: boolean;
  verbose: boolean;
}

async function extract(
  process: Process,
  { base, file, gzip, list, verbose }: ExtractOptions,
): Promise<number> {
  const { extract: newExtract } = await import('tar-stream');
  const input = file === '-' ? process.stdin : openPath(process, absolute(process, file), 'read');
  let data: Buffer = await input.readAll(process.signal);
  if (gzip || (data[0] === 0x1f && data[1] === 0x8b)) data = (await import('node:zlib')).gunzipSync(data);
  const entries = newExtract();
  entries.end(data);
  let status = 0;
  for await (const entry of entries) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    if (list || verbose) await process.print(`${entry.header.name}\n`);
    if (list) continue;
    try {
      unpack(process, base, entry.header, Buffer.concat(chunks));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await process.complain(`tar: can't open '${entry.header.name}': ${error.message}\n`);
      status = 1;
    }
  }
  return status;
}

function unpack(process: Process, base: string, header: Header, data: Buffer): void {
  const { fs } = process;
  const path = posix.join(base, posix.normalize(`/${header.name}`)).replace(/(.)\/$/, '$1');
  fs.mkdir(posix.dirname(path), { parents: true });
  if (header.type === 'directory') fs.mkdir(path, { parents: true });
  else if (header.type === 'symlink') {
    if (fs.existsAsLink(path)) fs.unlink(path);
    fs.symlink(header.linkname ?? '', path);
  } else {
    fs.writeFile(path, data, { mode: header.mode, user: process.user });
    if (header.mode !== undefined) fs.chmod(path, header.mode);
  }
}
