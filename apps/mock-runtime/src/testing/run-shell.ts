import { realClock, realRandom } from '@tinkernetes/component-base';
import { FileSystem } from '../files/file-system';
import type { Mount } from '../files/mounts';
import { virtualNode } from '../files/virtual-files';
import { rootTree } from '../images/root-tree';
import { toolset } from '../images/toolset';
import { defaultCapabilities } from '../kernel/capabilities';
import { Cpu } from '../kernel/cpu';
import { Memory } from '../kernel/memory';
import { OpenFile } from '../kernel/open-file';
import { Pipe } from '../kernel/pipe';
import { Process, type Machine, type User } from '../kernel/process';
import { ProcessTable } from '../kernel/process-table';
import { resolveProgram } from '../kernel/spawn';
import { NetNamespace } from '../network/net-namespace';

export interface ShellOutcome {
  stdout: string;
  stderr: string;
  exitCode: number;
}

const unplugged = new NetNamespace('', {
  connect: () => Promise.reject(new Error('this shell has no network')),
  send: () => undefined,
});

const images = {
  busybox: rootTree({ commands: toolset('busybox') }),
  debian: rootTree({ commands: toolset('debian') }),
};

export interface ShellSettings {
  kind: 'busybox' | 'debian';
  stdin?: string;
  mounts?: readonly Mount[];
  /** root, if left out */
  user?: User;
}

const root: User = { uid: 0, gid: 0, groups: [0] };

/** Runs a command line in a container of its own, without a runtime around it. */
export async function runShell(
  argv: readonly string[],
  { kind, stdin = '', mounts = [], user = root }: ShellSettings,
): Promise<ShellOutcome> {
  const fs: FileSystem = new FileSystem(images[kind], {
    clock: realClock,
    mounts,
    virtual: (path) => virtualNode(path, machine, { resources: undefined, sysctls: {} }),
  });
  const machine: Machine = {
    fs,
    net: unplugged,
    clock: realClock,
    random: realRandom,
    hostname: 'box',
    table: new ProcessTable(),
    capabilities: defaultCapabilities,
    cpu: new Cpu(realClock),
    memory: new Memory(
      () => 0,
      () => undefined,
    ),
    startedAt: realClock.now(),
  };
  fs.mkdir('/work');
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const input = new Pipe();
  const process = new Process(machine, {
    argv,
    env: { PATH: '/bin:/usr/bin', HOME: '/root' },
    cwd: '/work',
    user,
    files: new Map([
      [0, input.readEnd],
      [1, new OpenFile({ write: (data) => void stdout.push(data) })],
      [2, new OpenFile({ write: (data) => void stderr.push(data) })],
    ]),
  });
  const { program } = await resolveProgram(argv, { fs, cwd: '/work', path: process.env.PATH });
  const ended = process.run(program);
  await input.writeEnd.write(Buffer.from(stdin));
  input.writeEnd.release();
  const exitCode = await ended;
  return { stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString(), exitCode };
}
