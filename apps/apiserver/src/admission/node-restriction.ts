import { Nodes, Pods } from '@tinkernetes/api';
import type { CertificateSigningRequest, KubeObject, Node, Pod, TokenRequest } from '@tinkernetes/api';
import { deepEqual, notFound } from '@tinkernetes/apimachinery';
import { nodeNameOf } from '../authorization/node/node-identity';
import { podReferences } from '../authorization/node/node-graph';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../contracts';
import { notAdmitted } from './answers';
import { isMirrorPod } from './mirror-pod';

const nodeRestriction = 'node-restriction.kubernetes.io';
/** Labels under kubernetes.io that a kubelet may set on its Node. Source: k8s.io/kubelet/pkg/apis. */
const kubeletLabels: ReadonlySet<string> = new Set([
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'node.kubernetes.io/windows-build',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]);

/**
 * Holds kubelets to their own Node, its Pods and its Lease. Source:
 * https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
 */
export function nodeRestrictionPlugin(stores: StoreRegistry): AdmissionPlugin {
  return {
    name: 'NodeRestriction',
    handles: (a) => nodeNameOf(a.user) !== undefined && a.operation !== 'CONNECT',
    validate: (a) => {
      const nodeName = nodeNameOf(a.user) ?? '';
      if (nodeName === '') throw notAdmitted(a, `could not determine node from user "${a.user.name}"`);
      switch (`${a.group}/${a.resource}`) {
        case '/pods':
          return checkPod(a, nodeName);
        case '/nodes':
          return checkNode(a, nodeName);
        case '/serviceaccounts':
          return checkToken(a, nodeName);
        case 'coordination.k8s.io/leases':
          if (a.namespace !== 'kube-node-lease') {
            throw notAdmitted(a, 'can only access leases in the "kube-node-lease" system namespace');
          }
          return checkOwnName(a, nodeName, 'node lease');
        case 'storage.k8s.io/csinodes':
          return checkOwnName(a, nodeName, 'CSINode');
        case 'certificates.k8s.io/certificatesigningrequests':
          return checkSigningRequest(a, nodeName);
        default:
          return undefined;
      }
    },
  };

  function checkPod(a: AdmissionAttributes, nodeName: string): void {
    switch (a.subresource) {
      case '':
        if (a.operation === 'CREATE') return checkMirrorPod(a, nodeName);
        if (a.operation === 'DELETE') {
          if ((a.oldObject as Pod | undefined)?.spec?.nodeName === nodeName) return;
          throw notAdmitted(a, `node "${nodeName}" can only delete pods with spec.nodeName set to itself`);
        }
        throw notAdmitted(
          a,
          `unexpected operation "${a.operation}", node "${nodeName}" can only create and delete mirror pods`,
        );
      case 'status':
        return checkPodStatus(a, nodeName);
      case 'eviction': {
        const pod = stores.for(Pods).peek(a.name, a.namespace);
        if (!pod) throw notFound({ group: '', resource: 'pods' }, a.name);
        if (pod.spec?.nodeName === nodeName) return;
        throw notAdmitted(a, `node ${nodeName} can only evict pods with spec.nodeName set to itself`);
      }
      default:
        throw notAdmitted(
          a,
          `unexpected pod subresource "${a.subresource}", only 'status' and 'eviction' are allowed`,
        );
    }
  }

  function checkMirrorPod(a: AdmissionAttributes, nodeName: string): void {
    const pod = a.object as Pod;
    const node = `node "${nodeName}"`;
    if (!isMirrorPod(pod))
      throw notAdmitted(
        a,
        `pod does not have "kubernetes.io/config.mirror" annotation, ${node} can only create mirror pods`,
      );
    if (pod.spec?.nodeName !== nodeName) {
      throw notAdmitted(a, `${node} can only create pods with spec.nodeName set to itself`);
    }
    const owners = pod.metadata.ownerReferences ?? [];
    const [owner] = owners;
    if (owners.length > 1)
      throw notAdmitted(a, `${node} can only create pods with a single owner reference set to itself`);
    if (!owner || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== nodeName) {
      throw notAdmitted(a, `${node} can only create pods with an owner reference set to itself`);
    }
    if (!owner.controller)
      throw notAdmitted(a, `${node} can only create pods with a controller owner reference set to itself`);
    const uid = stores.for(Nodes).peek(nodeName)?.metadata.uid ?? '';
    if (owner.uid !== uid)
      throw notAdmitted(a, `node ${nodeName} UID mismatch: expected ${owner.uid} got ${uid}`);
    for (const reference of podReferences(pod)) {
      const [resource] = reference.split('/');
      const what = resource === 'serviceaccounts' ? 'a service account' : resource;
      throw notAdmitted(a, `${node} can not create pods that reference ${what ?? ''}`);
    }
  }

  function checkToken(a: AdmissionAttributes, nodeName: string): void {
    if (a.operation !== 'CREATE' || a.subresource !== 'token') return;
    const reference = (a.object as TokenRequest | undefined)?.spec.boundObjectRef;
    if (reference?.apiVersion !== 'v1' || reference.kind !== 'Pod' || !reference.name) {
      throw notAdmitted(a, 'node requested token not bound to a pod');
    }
    if (!reference.uid) throw notAdmitted(a, 'node requested token with a pod binding without a uid');
    const pod = stores.for(Pods).peek(reference.name, a.namespace);
    if (!pod) throw notFound({ group: '', resource: 'pods' }, reference.name);
    if (pod.metadata.uid !== reference.uid) {
      throw notAdmitted(
        a,
        `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    if (pod.spec?.nodeName !== nodeName) {
      throw notAdmitted(a, 'node requested token bound to a pod scheduled on a different node');
    }
  }
}

function checkPodStatus(a: AdmissionAttributes, nodeName: string): void {
  const [pod, old] = [a.object as Pod | undefined, a.oldObject as Pod | undefined];
  if (a.operation !== 'UPDATE') throw notAdmitted(a, `unexpected operation "${a.operation}"`);
  if (old?.spec?.nodeName !== nodeName) {
    throw notAdmitted(
      a,
      `node "${nodeName}" can only update pod status for pods with spec.nodeName set to itself`,
    );
  }
  if (!deepEqual(pod?.metadata.labels ?? {}, old.metadata.labels ?? {})) {
    throw notAdmitted(a, `node "${nodeName}" cannot update labels through pod status`);
  }
  if (!deepEqual(pod?.status?.resourceClaimStatuses ?? [], old.status?.resourceClaimStatuses ?? [])) {
    throw notAdmitted(a, `node "${nodeName}" cannot update resource claim statues`);
  }
}

function checkNode(a: AdmissionAttributes, nodeName: string): void {
  if (a.name !== nodeName)
    throw notAdmitted(a, `node "${nodeName}" is not allowed to modify node "${a.name}"`);
  if (a.operation === 'DELETE') return;
  const [node, old] = [a.object as Node, a.oldObject as Node | undefined];
  const labels = forbiddenLabels(node, old);
  if (!old) {
    if (labels.length === 0) return;
    throw notAdmitted(
      a,
      `node "${nodeName}" is not allowed to set the following labels: ${labels.join(', ')}`,
    );
  }
  if (!deepEqual(node.spec?.taints ?? [], old.spec?.taints ?? [])) {
    throw notAdmitted(a, `node "${nodeName}" is not allowed to modify taints`);
  }
  if (labels.length > 0) throw notAdmitted(a, `is not allowed to modify labels: ${labels.join(', ')}`);
}

function forbiddenLabels(node: KubeObject, old: KubeObject | undefined): string[] {
  const [now, before] = [node.metadata.labels ?? {}, old?.metadata.labels ?? {}];
  return [...new Set([...Object.keys(now), ...Object.keys(before)])]
    .filter((key) => now[key] !== before[key] && isForbiddenLabel(key))
    .sort();
}

function isForbiddenLabel(key: string): boolean {
  const namespace = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  const under = (domain: string) => namespace === domain || namespace.endsWith(`.${domain}`);
  if (under(nodeRestriction)) return true;
  if (!under('kubernetes.io') && !under('k8s.io')) return false;
  return !kubeletLabels.has(key) && !under('kubelet.kubernetes.io') && !under('node.kubernetes.io');
}

const kubeletSigners: readonly string[] = [
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
];

/** What the signers check besides is no concern here. */
async function checkSigningRequest(a: AdmissionAttributes, nodeName: string): Promise<void> {
  if (a.operation !== 'CREATE') return;
  const { spec } = a.object as CertificateSigningRequest;
  if (!kubeletSigners.includes(spec.signerName)) return;
  const { readCertificateSigningRequest } = await import('@tinkernetes/pki');
  const asked = await readCertificateSigningRequest(Buffer.from(spec.request, 'base64').toString()).catch(
    (error: Error) => {
      throw notAdmitted(a, `unable to parse csr: ${error.message}`);
    },
  );
  const ownName = `system:node:${nodeName}`;
  if (asked.commonName !== ownName) throw notAdmitted(a, `can only create a node CSR with CN=${ownName}`);
}

function checkOwnName(a: AdmissionAttributes, nodeName: string, what: string): void {
  if (a.name !== nodeName) {
    throw notAdmitted(a, `can only access ${what} with the same name as the requesting node`);
  }
}
