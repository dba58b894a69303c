import { realClock, realRandom } from '@tinkernetes/component-base';
import { FileSystem } from '../files/file-system';
import { virtualNode } from '../files/virtual-files';
import { rootTree } from '../images/root-tree';
import { toolset } from '../images/toolset';
import { defaultCapabilities } from '../kernel/capabilities';
import { Cpu } from '../kernel/cpu';
import { Memory } from '../kernel/memory';
import { OpenFile } from '../kernel/open-file';
import { Pipe } from '../kernel/pipe';
import { Process, type Machine } from '../kernel/process';
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

/** Runs a command line in a container of its own, without a runtime around it. */
export async function runShell(
  argv: readonly string[],
  { kind, stdin = '' }: { kind: 'busybox' | 'debian'; stdin?: string },
): Promise<ShellOutcome> {
  const fs: FileSystem = new FileSystem(images[kind], {
    clock: realClock,
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
    user: { uid: 0, gid: 0, groups: [0] },
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
