import type { Clock, Random } from '@tinkernetes/component-base';
import { FileSystem } from '../files/file-system';
import { directory } from '../files/nodes';
import { defaultCapabilities } from '../kernel/capabilities';
import { Cpu } from '../kernel/cpu';
import { Memory } from '../kernel/memory';
import { Process } from '../kernel/process';
import { ProcessTable } from '../kernel/process-table';
import type { NodeNetwork } from '../network/node-network';
import type { ContainerRecord } from './records';

export interface ProcessNamespacesOptions {
  clock: Clock;
  random: Random;
  network: NodeNetwork;
}

/** The node's PID namespace, and inside it those that Pods share among their containers (shareProcessNamespace). */
export class ProcessNamespaces {
  private readonly node = new ProcessTable();
  private readonly ofSandboxes = new Map<string, ProcessTable>();

  constructor(private readonly options: ProcessNamespacesOptions) {
    this.hold(this.node, '/sbin/init');
  }

  /** As the container's NamespaceOption says; `target` finds the one of a container that is to be joined. */
  of(
    { sandboxId, config }: ContainerRecord,
    target: (containerId: string) => ProcessTable | undefined,
  ): ProcessTable {
    const options = config.linux?.securityContext?.namespaceOptions;
    switch (options?.pid) {
      case 'NODE':
        return this.node;
      case 'TARGET':
        return target(options.targetId) ?? new ProcessTable(this.node);
      case 'POD':
        return this.ofSandbox(sandboxId);
      default:
        return new ProcessTable(this.node);
    }
  }

  remove(sandboxId: string): void {
    const table = this.ofSandboxes.get(sandboxId);
    const holder = table?.get(1);
    if (holder) table?.remove(holder);
    this.ofSandboxes.delete(sandboxId);
  }

  private ofSandbox(id: string): ProcessTable {
    let table = this.ofSandboxes.get(id);
    if (!table) {
      this.ofSandboxes.set(id, (table = new ProcessTable(this.node)));
      this.hold(table, '/pause');
    }
    return table;
  }

  /** The namespace's first process, which does nothing but keep it. */
  private hold(table: ProcessTable, command: string): void {
    const { clock, random, network } = this.options;
    const machine = {
      fs: new FileSystem(directory(), { clock }),
      net: network.host,
      clock,
      random,
      hostname: '',
      table,
      capabilities: defaultCapabilities,
      memory: new Memory(
        () => 0,
        () => undefined,
      ),
      cpu: new Cpu(clock),
      startedAt: clock.now(),
    };
    const user = { uid: 0, gid: 0, groups: [0] };
    new Process(machine, { argv: [command], env: {}, cwd: '/', user, files: new Map() });
  }
}
