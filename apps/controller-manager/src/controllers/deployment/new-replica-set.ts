import { Deployments, type Deployment, type ReplicaSet } from '@tinkernetes/api';
import { controllerRefOf } from '@tinkernetes/controller';
import { newReplicaSetAnnotations } from './annotations';
import { hashLabel, podTemplateHash } from './pod-template-hash';
import { newReplicaSetSize } from './rolling-update';

/** Of an object: a DNS subdomain. */
const longestName = 253;

/** The ReplicaSet that a Deployment's template asks for, beside those that exist, as large as it may be at once. */
export function newReplicaSet(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  revision: number,
): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = podTemplateHash(template, deployment.status?.collisionCount ?? 0);
  const name = `${deployment.metadata.name.slice(0, longestName - 1 - hash.length)}-${hash}`;
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const blank: ReplicaSet = {
    metadata: {
      name,
      namespace: deployment.metadata.namespace,
      labels,
      annotations: newReplicaSetAnnotations(deployment, undefined, revision),
      ownerReferences: [controllerRefOf(deployment, Deployments)],
    },
    spec: {
      replicas: 0,
      minReadySeconds,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  const replicas = newReplicaSetSize(deployment, [...all, blank], 0);
  return { ...blank, spec: { ...blank.spec, replicas } };
}
