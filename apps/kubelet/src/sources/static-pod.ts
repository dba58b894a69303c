import type { Container, Pod } from '@tinkernetes/api';
import { createHash } from 'node:crypto';
import { podAnnotations } from '../runtime/labels';
import { apiReference } from './api-references';

export interface StaticPodOrigin {
  /** `file` or `http`, as in the annotation kubernetes.io/config.source. */
  source: 'file' | 'http';
  /** The file's path or the URL: part of the Pod's identity. */
  location: string;
  nodeName: string;
  /** RFC 3339. */
  seen: string;
}

/** A manifest that is no Pod this node could run. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/**
 * The Pod that a manifest on the node describes: named after the node, with an identity made of its content, and with
 * the defaults that the API server would have given it. Source: pkg/kubelet/config/common.go applyDefaults.
 */
export function staticPod(manifest: unknown, { source, location, nodeName, seen }: StaticPodOrigin): Pod {
  const given = manifest as Partial<Pod> | null;
  if (given?.kind !== 'Pod' || !given.metadata?.name || !given.spec?.containers?.length) {
    throw new ManifestError(`${location} does not hold a Pod with a name and containers`);
  }
  const reference = apiReference(given.spec);
  if (reference) throw new ManifestError(`${location}: static pods may not reference ${reference}`);
  const uid =
    given.metadata.uid ||
    createHash('md5')
      .update(JSON.stringify(manifest))
      .update(`host:${nodeName}`)
      .update(`${source}:${location}`)
      .digest('hex');
  const { spec } = given;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...given.metadata,
      name: `${given.metadata.name}-${nodeName}`.toLowerCase(),
      namespace: given.metadata.namespace || 'default',
      uid,
      annotations: {
        ...given.metadata.annotations,
        [podAnnotations.configHash]: uid,
        [podAnnotations.configSeen]: seen,
        [podAnnotations.configSource]: source,
      },
    },
    spec: {
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      ...spec,
      containers: spec.containers.map(withDefaults),
      ...(spec.initContainers ? { initContainers: spec.initContainers.map(withDefaults) } : {}),
      nodeName,
      // The node's own Pods are not driven away by its taints.
      tolerations: [...(spec.tolerations ?? []), { operator: 'Exists', effect: 'NoExecute' }],
    },
    status: { phase: 'Pending' },
  };
}

function withDefaults(container: Container): Container {
  const image = container.image ?? '';
  const tagged = /[:@][^/]*$/.test(image);
  return {
    imagePullPolicy: !tagged || image.endsWith(':latest') ? 'Always' : 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    resources: {},
    ...container,
  };
}
