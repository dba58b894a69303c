import type { Process } from './process';

/** A PID namespace. When its first process ends, the others are killed with it. */
export class ProcessTable {
  private readonly processes = new Map<number, Process>();
  private nextPid = 1;

  /** PID 1 belongs to the sandbox itself (`pause`), which holds the namespace. */
  reserveFirst(): void {
    this.nextPid = 2;
  }

  add(process: Process): number {
    const pid = this.nextPid++;
    this.processes.set(pid, process);
    return pid;
  }

  remove(process: Process): void {
    this.processes.delete(process.pid);
    if (process.pid === 1) for (const other of this.list()) other.kill('SIGKILL');
  }

  get(pid: number): Process | undefined {
    return this.processes.get(pid);
  }

  list(): Process[] {
    return [...this.processes.values()].sort((a, b) => a.pid - b.pid);
  }
}
