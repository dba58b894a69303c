import { Nodes } from '@tinkernetes/api';
import type { Node } from '@tinkernetes/api';
import {
  child,
  duplicate,
  familyOf,
  forbidden,
  invalid,
  isLabelValue,
  isQualifiedName,
  isValidCidr,
  Quantity,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { nodeCells } from '../../../printers/nodes';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import { roundUpToMilli } from '../../pod-spec/resource-defaults';
import { validateQuantityValue } from '../../pod-spec/resources';
import { validateTaintEffect } from '../../pod-spec/scheduling';
import { check, eachOf } from '../../rules';
import type { Errors } from '../../rules';

function validateTaints(node: Node): Errors {
  const seen = new Set<string>();
  return eachOf('metadata.taints', node.spec?.taints, (taint, at) => {
    const errors = [
      ...check(child(at, 'key'), taint.key, isQualifiedName),
      ...(isLabelValue(taint.value ?? '').length > 0
        ? [invalid(child(at, 'value'), taint.value, isLabelValue(taint.value ?? '').join(';'))]
        : []),
      ...validateTaintEffect(child(at, 'effect'), taint.effect),
    ];
    const key = `${taint.key}:${taint.effect}`;
    if (seen.has(key)) {
      errors.push(
        duplicate(
          at,
          {
            Key: taint.key,
            Value: taint.value ?? '',
            Effect: taint.effect,
            TimeAdded: taint.timeAdded ?? null,
          },
          'taints must be unique by key and effect pair',
        ),
      );
    }
    seen.add(key);
    return errors;
  });
}

function validateCapacity(node: Node): Errors {
  const lists = [
    ['status.capacity', node.status?.capacity],
    ['status.allocatable', node.status?.allocatable],
  ] as const;
  return lists.flatMap(([path, list]) =>
    Object.entries(list ?? {}).flatMap(([name, text]) =>
      validateQuantityValue(`${path}.${name}`, name, Quantity.parse(text)),
    ),
  );
}

function validate(node: Node): Errors {
  const cidrs = node.spec?.podCIDRs ?? [];
  const errors = [...validateTaints(node), ...validateCapacity(node)];
  errors.push(...eachOf('spec.podCIDRs', cidrs, (cidr, at) => check(at, cidr, isValidCidr)));
  const families = cidrs.map((cidr) => familyOf(cidr.split('/')[0] ?? ''));
  if (families.some((family, i) => family && families.indexOf(family) < i)) {
    errors.push(invalid('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

function validateUpdate(node: Node, old: Node): Errors {
  // Upstream looks at taints once more.
  const errors = [...validate(node), ...validateTaints(node)];
  const oldCidrs = old.spec?.podCIDRs ?? [];
  if (oldCidrs.length > 0 && !semanticEqual(node.spec?.podCIDRs, oldCidrs)) {
    errors.push(forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  if (node.spec?.externalID !== old.spec?.externalID)
    errors.push(forbidden('spec.externalID', 'may not be updated'));
  if (old.spec?.providerID && node.spec?.providerID !== old.spec.providerID) {
    errors.push(
      forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'),
    );
  }
  return errors;
}

/** The single CIDR and the list say the same. */
function syncCidrs(node: Node): Node {
  const spec = node.spec;
  if (!spec) return node;
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR)
    return { ...node, spec: { ...spec, podCIDRs: [spec.podCIDR] } };
  if (!spec.podCIDR && spec.podCIDRs?.length)
    return { ...node, spec: { ...spec, podCIDR: spec.podCIDRs[0] } };
  return node;
}

/** Kubelets no longer take their configuration from here. */
function withoutDynamicConfig(node: Node): Node {
  const withoutSource = mapMember(node, 'spec', ({ configSource: _, ...spec }) => spec);
  return mapMember(withoutSource, 'status', ({ config: _, ...status }) => status);
}

/** Source: k8s.io/kubernetes/pkg/registry/core/node. */
export const nodeStrategy = defineStrategy(Nodes, {
  hasGeneration: false,
  keepsStatusOnCreate: true,
  default: (node) =>
    mapMember(syncCidrs(node), 'status', (given) => {
      const status = mapMember(mapMember(given, 'capacity', roundUpToMilli), 'allocatable', roundUpToMilli);
      return status.capacity ? fill(status, { allocatable: status.capacity }) : status;
    }),
  prepareForCreate: withoutDynamicConfig,
  validate,
  validateUpdate,
  warnings: ({ spec }) =>
    spec?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : [],
  prepareForStatusUpdate: withoutDynamicConfig,
  validateStatusUpdate: validateCapacity,
  selectableFieldNames: ['spec.unschedulable'],
  selectableFields: ({ spec }) => ({ 'spec.unschedulable': String(spec?.unschedulable ?? false) }),
  tableCells: nodeCells,
});
