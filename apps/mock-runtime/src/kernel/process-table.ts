import type { Process } from './process';

/**
 * A PID namespace. Its processes are seen, under other ids, in the one that it was made in. When its first process ends,
 * the others are killed with it.
 */
export class ProcessTable {
  private readonly processes = new Map<number, Process>();
  private readonly pids = new Map<Process, number>();
  private nextPid = 1;

  constructor(private readonly parent?: ProcessTable) {}

  /** The id here of a process that starts in this namespace or one below. */
  add(process: Process): number {
    const pid = this.nextPid++;
    this.processes.set(pid, process);
    this.pids.set(process, pid);
    this.parent?.add(process);
    return pid;
  }

  remove(process: Process): void {
    const pid = this.pids.get(process);
    if (pid === undefined) return;
    this.pids.delete(process);
    this.processes.delete(pid);
    this.parent?.remove(process);
    if (pid === 1) for (const other of this.list()) other.kill('SIGKILL');
  }

  get(pid: number): Process | undefined {
    return this.processes.get(pid);
  }

  pidOf(process: Process): number | undefined {
    return this.pids.get(process);
  }

  /** In the order of their ids. */
  list(): Process[] {
    return [...this.processes.values()];
  }
}
