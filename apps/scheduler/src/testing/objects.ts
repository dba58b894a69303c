import type { Container, Node, NodeSpec, Pod, PodSpec } from '@tinkernetes/api';

type Labels = Record<string, string>;

export interface NodeShape {
  labels?: Labels;
  spec?: Partial<NodeSpec>;
  allocatable?: Record<string, string>;
  images?: Record<string, number>;
}

/** A node with 4 CPUs, 8 Gi and 110 Pods, and its host name as label. */
export function makeNode(
  name: string,
  { labels = {}, spec = {}, allocatable = {}, images = {} }: NodeShape = {},
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...allocatable },
      images: Object.entries(images).map(([image, sizeBytes]) => ({ names: [image], sizeBytes })),
    },
  } as Node;
}

export interface PodShape {
  namespace?: string;
  labels?: Labels;
  requests?: Record<string, string>;
  /** Already running there. */
  node?: string;
  container?: Partial<Container>;
  spec?: Partial<PodSpec>;
  startTime?: string;
}

export function makePod(name: string, shape: PodShape = {}): Pod {
  const { namespace = 'default', labels, requests, node, container, spec, startTime } = shape;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `${namespace}/${name}`, labels },
    spec: {
      schedulerName: 'default-scheduler',
      containers: [
        { name: 'main', image: 'nginx', ...(requests ? { resources: { requests } } : {}), ...container },
      ],
      ...(node ? { nodeName: node } : {}),
      ...spec,
    },
    status: { phase: 'Pending', ...(startTime ? { startTime } : {}) },
  } as Pod;
}
