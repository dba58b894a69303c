import { Nodes, type Node } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';

const isReady = (node: Node): boolean =>
  node.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;

/** Resolves when `count` nodes are Ready, telling of each as it comes. */
export async function waitForNodes(
  client: Client,
  { count, signal, report }: { count: number; signal: AbortSignal; report(line: string): void },
): Promise<void> {
  const ready = new Set<string>();
  const nodes = client.for(Nodes);
  while (ready.size < count) {
    const list = await nodes.list({ signal });
    const note = (node: Node) => {
      const { name } = node.metadata;
      if (!isReady(node)) ready.delete(name);
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
