import { Nodes, Pods, type Node, type Pod, type PodSpec } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';

/** A Ready node: what the kubelet and the node lifecycle controller would have made of it. */
export async function createReadyNode(client: Client, name: string): Promise<void> {
  const resources = { cpu: '2', memory: '4Gi', pods: '110' };
  const status = {
    allocatable: resources,
    capacity: resources,
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  const node = { metadata: { name, labels: { 'kubernetes.io/hostname': name } }, status } as unknown as Node;
  await client.for(Nodes).create(node);
  await client.for(Nodes).patch(name, { spec: { taints: null } }, { type: 'merge' });
}

export function createPod(client: Client, name: string, spec: Partial<PodSpec> = {}): Promise<Pod> {
  const containers = [{ name: 'main', image: 'nginx' }];
  const pod = { metadata: { name }, spec: { containers, ...spec } } as unknown as Pod;
  return client.for(Pods).create(pod, { namespace: 'default' });
}

export const getPod = (client: Client, name: string): Promise<Pod> =>
  client.for(Pods).get(name, { namespace: 'default' });

export const asking = (cpu: string): Partial<PodSpec> => ({
  containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu } } }] as PodSpec['containers'],
});
