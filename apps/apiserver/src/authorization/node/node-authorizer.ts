import { loadBootstrapObjects, type ClusterRole, type PolicyRule } from '@tinkernetes/api';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from '../../contracts';
import { ruleAllows } from '../policy-rule';
import { nodeNameOf } from './node-identity';
import type { NodeGraph } from './node-graph';

const allowed: AuthorizationResult = { decision: 'allow', reason: '' };
const noOpinion = (reason: string): AuthorizationResult => ({ decision: 'no-opinion', reason });

type Rule = (authorizer: NodeAuthorizer, nodeName: string, a: AuthorizationAttributes) => AuthorizationResult;

const rules: Readonly<Record<string, Rule>> = {
  '/secrets': (self, nodeName, a) => self.readReferenced(nodeName, a),
  '/configmaps': (self, nodeName, a) => self.readReferenced(nodeName, a),
  '/persistentvolumeclaims': (self, nodeName, a) =>
    a.subresource === 'status' ? self.updateStatus(nodeName, a) : self.getReferenced(nodeName, a),
  '/persistentvolumes': (self, nodeName, a) => self.getReferenced(nodeName, a),
  'resource.k8s.io/resourceclaims': (self, nodeName, a) => self.getReferenced(nodeName, a),
  'storage.k8s.io/volumeattachments': (self, nodeName, a) => self.getReferenced(nodeName, a),
  '/serviceaccounts': (self, nodeName, a) => self.serviceAccount(nodeName, a),
  '/nodes': (_, nodeName, a) => node(nodeName, a),
  '/pods': (self, nodeName, a) => self.pod(nodeName, a),
  'coordination.k8s.io/leases': (_, nodeName, a) => lease(nodeName, a),
  'storage.k8s.io/csinodes': (_, nodeName, a) => ownByName(nodeName, a),
};

/**
 * Lets kubelets do what a node needs: objects of its own Pods, its own Node, Lease and CSINode.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/node/
 */
export class NodeAuthorizer implements Authorizer {
  readonly name = 'Node';
  private nodeRules: readonly PolicyRule[] | undefined;

  constructor(private readonly graph: NodeGraph) {}

  authorize(attributes: AuthorizationAttributes): AuthorizationResult {
    const nodeName = nodeNameOf(attributes.user);
    if (nodeName === undefined) return noOpinion('');
    if (nodeName === '') return noOpinion(`unknown node for user "${attributes.user.name}"`);
    const rule = attributes.isResourceRequest
      ? rules[`${attributes.apiGroup}/${attributes.resource}`]
      : undefined;
    return rule ? rule(this, nodeName, attributes) : this.general(attributes);
  }

  readReferenced(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
    if (!['get', 'list', 'watch'].includes(a.verb)) return noOpinion('can only read resources of this type');
    if (a.subresource) return noOpinion('cannot read subresource');
    if (!a.namespace) return noOpinion('can only read namespaced object of this type');
    return this.related(nodeName, a);
  }

  getReferenced(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
    if (a.verb !== 'get') return noOpinion('can only get individual resources of this type');
    if (a.subresource) return noOpinion('cannot get subresource');
    return this.related(nodeName, a);
  }

  updateStatus(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
    if (a.verb !== 'update' && a.verb !== 'patch') return noOpinion('can only get/update/patch this type');
    return this.related(nodeName, a);
  }

  serviceAccount(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
    if (a.verb === 'get' && !a.subresource) return this.related(nodeName, a);
    if (a.verb !== 'create' || a.subresource !== 'token')
      return noOpinion('can only create tokens for individual service accounts');
    if (!a.name) return noOpinion('can only create tokens for individual service accounts');
    return this.related(nodeName, a);
  }

  pod(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
    switch (a.subresource) {
      case '':
        break;
      case 'status':
        return a.verb === 'update' || a.verb === 'patch' ? allowed : noOpinion('can only update pod status');
      case 'eviction':
        return a.verb === 'create' ? allowed : noOpinion('can only create pod evictions');
      default:
        return this.general(a);
    }
    switch (a.verb) {
      case 'create':
      case 'delete':
        return allowed;
      case 'get':
        return this.graph.hasPod(nodeName, a.namespace, a.name)
          ? allowed
          : noOpinion(`no relationship found between node '${nodeName}' and this object`);
      case 'list':
      case 'watch':
        if (a.name)
          return this.graph.hasPod(nodeName, a.namespace, a.name)
            ? allowed
            : noOpinion('can only list/watch pods with spec.nodeName field selector');
        return selectsNode(a.fieldSelector, 'spec.nodeName', nodeName)
          ? allowed
          : noOpinion('can only list/watch pods with spec.nodeName field selector');
      default:
        return this.general(a);
    }
  }

  private related(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
    if (!a.name) return noOpinion('No Object name found');
    const related =
      a.resource === 'persistentvolumes'
        ? this.graph.usesVolume(nodeName, a.name)
        : a.resource === 'volumeattachments'
          ? this.graph.attachmentNode(a.name) === nodeName
          : this.graph.refersTo(nodeName, a.resource, a);
    return related ? allowed : noOpinion(`no relationship found between node '${nodeName}' and this object`);
  }

  /** What every node may do alike: the rules of upstream's `system:node` role. */
  private general(a: AuthorizationAttributes): AuthorizationResult {
    this.nodeRules ??=
      ((loadBootstrapObjects().clusterroles ?? []) as unknown as readonly ClusterRole[]).find(
        (role) => role.metadata.name === 'system:node',
      )?.rules ?? [];
    return this.nodeRules.some((rule) => ruleAllows(rule, a)) ? allowed : noOpinion('');
  }
}

function node(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
  switch (a.subresource) {
    case '':
      break;
    case 'status':
      return a.verb === 'update' || a.verb === 'patch'
        ? own(nodeName, a)
        : noOpinion('can only update/patch the status of a node');
    default:
      return noOpinion(`cannot get subresource ${a.subresource}`);
  }
  switch (a.verb) {
    case 'create':
      // NodeRestriction admission looks at the name.
      return allowed;
    case 'get':
    case 'update':
    case 'patch':
      return own(nodeName, a);
    case 'list':
    case 'watch':
      return a.name === nodeName || selectsNode(a.fieldSelector, 'metadata.name', nodeName)
        ? allowed
        : noOpinion(`node '${nodeName}' cannot read all nodes, only its own Node object`);
    default:
      return noOpinion('');
  }
}

const own = (nodeName: string, a: AuthorizationAttributes): AuthorizationResult =>
  a.name === nodeName
    ? allowed
    : noOpinion(
        `node '${nodeName}' cannot ${a.verb === 'get' ? 'read' : 'modify'} '${a.name}', only its own Node object`,
      );

function lease(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(a.verb)) {
    return noOpinion('can only get, create, update, patch, or delete a node lease');
  }
  if (a.namespace !== 'kube-node-lease') {
    return noOpinion('can only access leases in the "kube-node-lease" system namespace');
  }
  return a.verb === 'create' || a.name === nodeName
    ? allowed
    : noOpinion('can only access node lease with the same name as the requesting node');
}

function ownByName(nodeName: string, a: AuthorizationAttributes): AuthorizationResult {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(a.verb)) {
    return noOpinion('can only get, create, update, patch, or delete a CSINode');
  }
  if (a.subresource) return noOpinion('cannot authorize CSINode subresources');
  return a.verb === 'create' || a.name === nodeName
    ? allowed
    : noOpinion('can only access CSINode with the same name as the requesting node');
}

/** Whether the selector's terms let only objects with `field=value` through. */
function selectsNode(selector: string | undefined, field: string, value: string): boolean {
  return (selector ?? '').split(',').some((term) => {
    const [, name, wanted] = /^([^=!]+)={1,2}(.*)$/.exec(term) ?? [];
    return name === field && wanted === value;
  });
}
