import { NetworkPolicies } from '@tinkernetes/api';
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '@tinkernetes/api';
import {
  child,
  cidrContains,
  forbidden,
  formatLabelSelector,
  invalid,
  isValidCidr,
  parseSloppyCidr,
  warningsForCidr,
  required,
} from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapList, mapMember } from '../../fill';
import { validateLabelSelector } from '../../pod-spec/label-selectors';
import { check, eachOf, oneOf, portNumber, portNumberOrName } from '../../rules';
import type { Errors } from '../../rules';

const defaultPorts = <R extends { ports?: NetworkPolicyPort[] }>(rule: R): R =>
  mapMember(
    rule,
    'ports',
    (ports) => mapList(ports, (port) => fill(port, { protocol: 'TCP' })) as R['ports'],
  );

/** Policies concern ingress; egress too when they have rules for it. */
function defaultSpec(given: NetworkPolicySpec): NetworkPolicySpec {
  const spec = mapMember(
    mapMember(given, 'ingress', (rules) => mapList(rules, defaultPorts)),
    'egress',
    (rules) => mapList(rules, defaultPorts),
  );
  if (spec.policyTypes?.length) return spec;
  return { ...spec, policyTypes: spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress'] };
}

function validatePort(port: NetworkPolicyPort, path: string): Errors {
  const errors = oneOf(child(path, 'protocol'), port.protocol, ['TCP', 'UDP', 'SCTP']);
  const at = child(path, 'endPort');
  const ofPort = port.port === undefined ? [] : portNumberOrName(child(path, 'port'), port.port);
  if (port.endPort === undefined) return [...errors, ...ofPort];
  if (port.port === undefined) {
    return [...errors, invalid(at, port.endPort, 'may not be specified when `port` is not specified')];
  }
  if (typeof port.port === 'string') {
    const detail = 'may not be specified when `port` is non-numeric';
    return [...errors, invalid(at, port.endPort, detail), ...ofPort];
  }
  errors.push(...ofPort);
  // Upstream reports the port here, not the end of the range.
  if (port.endPort < port.port)
    errors.push(invalid(at, port.port, 'must be greater than or equal to `port`'));
  return [...errors, ...portNumber(at, port.endPort)];
}

function validateBlock(block: IPBlock, path: string): Errors {
  const at = child(path, 'cidr');
  if (!block.cidr) return [required(at)];
  const errors = check(at, block.cidr, isValidCidr);
  const outer = parseSloppyCidr(block.cidr);
  if (!outer) return errors;
  const range = `${outer.address}/${outer.bits}`;
  const excepted = eachOf(child(path, 'except'), block.except, (except, exceptPath) => {
    const problems = check(exceptPath, except, isValidCidr);
    const inner = parseSloppyCidr(except);
    if (!inner || (cidrContains(range, inner.address) && inner.bits > outer.bits)) return problems;
    return [...problems, invalid(exceptPath, except, 'must be a strict subset of `cidr`')];
  });
  return [...errors, ...excepted];
}

/** Of CIDRs that are not spelt as they should be. */
function warningsOf({ spec }: NetworkPolicy): string[] {
  const ofPeers = (peers: readonly NetworkPolicyPeer[] | undefined, path: string) =>
    (peers ?? []).flatMap(({ ipBlock }, i) => {
      if (!ipBlock) return [];
      const at = `${path}[${i}].ipBlock`;
      return [
        ...warningsForCidr(`${at}.cidr`, ipBlock.cidr),
        ...(ipBlock.except ?? []).flatMap((except, n) => warningsForCidr(`${at}.except[${n}]`, except)),
      ];
    });
  return [
    ...(spec?.ingress ?? []).flatMap(({ from }, i) => ofPeers(from, `spec.ingress[${i}].from`)),
    ...(spec?.egress ?? []).flatMap(({ to }, i) => ofPeers(to, `spec.egress[${i}].to`)),
  ];
}

function validatePeer(peer: NetworkPolicyPeer, path: string): Errors {
  const errors = [
    ...validateLabelSelector(peer.podSelector, child(path, 'podSelector')),
    ...validateLabelSelector(peer.namespaceSelector, child(path, 'namespaceSelector')),
    ...(peer.ipBlock ? validateBlock(peer.ipBlock, child(path, 'ipBlock')) : []),
  ];
  const hasSelector = !!peer.podSelector || !!peer.namespaceSelector;
  if (!hasSelector && !peer.ipBlock) errors.push(required(path, 'must specify a peer'));
  if (hasSelector && peer.ipBlock)
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  return errors;
}

function validate({ spec }: NetworkPolicy): Errors {
  const given = spec ?? ({} as NetworkPolicySpec);
  const errors = [
    ...validateLabelSelector(given.podSelector, 'spec.podSelector'),
    ...eachOf('spec.ingress', given.ingress, (rule, at) => [
      ...eachOf(child(at, 'ports'), rule.ports, validatePort),
      ...eachOf(child(at, 'from'), rule.from, validatePeer),
    ]),
    ...eachOf('spec.egress', given.egress, (rule, at) => [
      ...eachOf(child(at, 'ports'), rule.ports, validatePort),
      ...eachOf(child(at, 'to'), rule.to, validatePeer),
    ]),
  ];
  const types = given.policyTypes ?? [];
  if (types.length > 2) {
    return [...errors, invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')];
  }
  return [
    ...errors,
    ...eachOf('spec.policyTypes', types, (type, at) => oneOf(at, type, ['Ingress', 'Egress'])),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/networking/networkpolicy. */
export const networkPolicyStrategy = defineStrategy(NetworkPolicies, {
  hasGeneration: true,
  default: (policy) => mapMember(policy, 'spec', defaultSpec),
  validate,
  warnings: warningsOf,
  tableCells: (policy, now) => [
    policy.metadata.name,
    formatLabelSelector(policy.spec?.podSelector),
    age(policy, now),
  ],
});
