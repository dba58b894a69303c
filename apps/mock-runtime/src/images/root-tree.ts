import {
  device,
  directory,
  executable,
  file,
  link,
  place,
  type DirectoryNode,
  type FsNode,
} from '../files/nodes';
import type { Program } from '../kernel/process';

export type ProgramLoader = () => Promise<Program>;

export interface RootOptions {
  /** Absolute paths of executables. */
  programs?: Readonly<Record<string, ProgramLoader>>;
  /** Absolute paths of files. */
  files?: Readonly<Record<string, string>>;
  /** Symbolic links: path → target. */
  links?: Readonly<Record<string, string>>;
  /** Extra lines of /etc/passwd and /etc/group: name → uid. */
  users?: Readonly<Record<string, number>>;
  /** Extra lines of /etc/group: name → gid and members. */
  groups?: Readonly<Record<string, { gid: number; members: readonly string[] }>>;
  osRelease?: string;
  /** Commands by path, e.g. from `toolset`. */
  commands?: Readonly<Record<string, FsNode>>;
}

const devices = ['null', 'zero', 'random', 'full', 'stdin', 'stdout', 'stderr', 'tty'] as const;

/** The files that every image and runtime brings. */
export function rootTree({
  programs = {},
  files = {},
  links = {},
  users = {},
  groups = {},
  osRelease,
  commands = {},
}: RootOptions): DirectoryNode {
  const root = directory({
    dev: directory({
      ...Object.fromEntries(devices.map((name) => [name, device(name)])),
      urandom: device('random'),
      fd: link('/proc/self/fd'),
      shm: directory({}, 0o1777),
    }),
    etc: directory({
      passwd: file(passwdOf(users)),
      group: file(groupOf(users, groups)),
      hostname: file(''),
      hosts: file('127.0.0.1\tlocalhost\n'),
      'resolv.conf': file(''),
      ...(osRelease ? { 'os-release': file(osRelease) } : {}),
    }),
    proc: directory({}, 0o555),
    sys: directory({}, 0o555),
    tmp: directory({}, 0o1777),
    root: directory({}, 0o700),
    home: directory(),
    var: directory({ log: directory(), run: link('/run'), tmp: directory({}, 0o1777) }),
    run: directory(),
    mnt: directory(),
  });
  for (const [path, node] of Object.entries(commands)) place(root, path, node);
  for (const [path, loader] of Object.entries(programs)) place(root, path, executable(loader));
  for (const [path, text] of Object.entries(files)) place(root, path, file(text));
  for (const [path, target] of Object.entries(links)) place(root, path, link(target));
  return root;
}

function passwdOf(users: Readonly<Record<string, number>>): string {
  const lines = Object.entries({ daemon: 1, bin: 2, mail: 8, 'www-data': 33, nobody: 65534, ...users }).map(
    ([name, uid]) => `${name}:x:${uid}:${uid}:${name}:/home/${name}:/bin/false`,
  );
  return ['root:x:0:0:root:/root:/bin/sh', ...lines, ''].join('\n');
}

function groupOf(
  users: Readonly<Record<string, number>>,
  groups: NonNullable<RootOptions['groups']>,
): string {
  const own = { daemon: 1, bin: 2, mail: 8, 'www-data': 33, users: 100, nobody: 65534, ...users };
  const lines = [
    ...Object.entries(own).map(([name, gid]) => `${name}:x:${gid}:`),
    ...Object.entries(groups).map(([name, { gid, members }]) => `${name}:x:${gid}:${members.join(',')}`),
  ];
  return ['root:x:0:', ...lines, ''].join('\n');
}
