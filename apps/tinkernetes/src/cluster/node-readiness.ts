import { Nodes, type Node } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';

/** Ready, and said so since `sinceMs`: a node that was Ready when the cluster stopped still says so in storage. */
function isReady(node: Node, sinceMs: number): boolean {
  const ready = node.status?.conditions?.find((c) => c.type === 'Ready' && c.status === 'True');
  return (
    ready !== undefined && Date.parse(ready.lastHeartbeatTime ?? '') >= Math.floor(sinceMs / 1000) * 1000
  );
}

export interface NodeWaitOptions {
  count: number;
  /** Epoch milliseconds of the start. */
  sinceMs: number;
  signal: AbortSignal;
  report(line: string): void;
}

/** Resolves when `count` nodes are Ready, telling of each as it comes. */
export async function waitForNodes(
  client: Client,
  { count, sinceMs, signal, report }: NodeWaitOptions,
): Promise<void> {
  const ready = new Set<string>();
  const nodes = client.for(Nodes);
  while (ready.size < count) {
    const list = await nodes.list({ signal });
    const note = (node: Node) => {
      const { name } = node.metadata;
      if (!isReady(node, sinceMs)) ready.delete(name);
      else if (!ready.has(name)) {
        ready.add(name);
        report(`${name} is Ready`);
      }
    };
    list.items.forEach(note);
    if (ready.size >= count) return;
    for await (const event of nodes.watch({ resourceVersion: list.metadata.resourceVersion, signal })) {
      if (event.type === 'ADDED' || event.type === 'MODIFIED') note(event.object);
      if (event.type === 'ERROR' || ready.size >= count) break;
    }
  }
}
