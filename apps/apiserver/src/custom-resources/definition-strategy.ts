import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '@tinkernetes/api';
import {
  invalid,
  isDns1035Label,
  isDns1123Subdomain,
  notSupported,
  required,
  validateObjectMeta,
  validateObjectMetaUpdate,
  type ObjectMetaRules,
} from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { setCondition } from '@tinkernetes/apimachinery';
import type { FieldError, Strategy } from '../contracts';
import { fill, mapMember } from '../registry/fill';
import { allowsAnyBundle, conversionErrors } from './definition/conversion-rules';
import { withDefaultNames } from './names';
import { formatWarnings } from './definition/format-warnings';
import { schemaErrors } from './definition/schema-rules';
import { versionErrors } from './definition/version-rules';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

type Definition = CustomResourceDefinition;

/** A name says what it defines. */
const metaRules = ({ spec }: Definition): ObjectMetaRules => {
  const wanted = `${spec.names.plural ?? ''}.${spec.group}`;
  const more = (name: string) => (name === wanted ? [] : ['must be spec.names.plural+"."+spec.group']);
  return {
    isNamespaced: false,
    hasFreeFinalizers: true,
    nameCheck: (name) => [...isDns1123Subdomain(name), ...more(name)],
  };
};
const scopes = ['Cluster', 'Namespaced'];

/** CustomResourceDefinitions. Source: apiextensions-apiserver/pkg/apis/apiextensions/validation. */
export const definitionStrategy: Strategy<Definition> = {
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  default: (definition) => ({
    ...definition,
    spec: {
      ...definition.spec,
      versions: definition.spec.versions ?? [],
      names: withDefaultNames(definition.spec.names),
      conversion: withDefaultPort(definition.spec.conversion ?? { strategy: 'None' }),
    },
  }),
  prepareForCreate: (definition) => ({ ...definition, status: initialStatus(definition) }),
  validate: (definition) => [
    ...validateObjectMeta(definition.metadata, metaRules(definition)),
    ...definitionErrors(definition),
    ...approvalErrors(definition),
    ...preserveErrors(definition),
  ],
  prepareForUpdate: (definition, old) => ({
    ...definition,
    status: withStoredVersion(old.status ?? {}, definition),
  }),
  validateUpdate: (definition, old) => [
    ...validateObjectMetaUpdate(definition.metadata, old.metadata),
    ...definitionErrors(definition, old),
    ...approvalErrors(definition, old),
    ...preserveErrors(definition, old),
    ...immutableErrors(definition, old),
  ],
  warnings: (definition, old) => formatWarnings(definition, old),
  validateStatusUpdate: (definition, old) => validateObjectMetaUpdate(definition.metadata, old.metadata),
  extraFinalizers: ({ metadata }) => (metadata.deletionTimestamp === undefined ? [cleanupFinalizer] : []),
  markTerminating: (definition) => ({
    ...definition,
    metadata: {
      ...definition.metadata,
      finalizers: [...new Set([...(definition.metadata.finalizers ?? []), cleanupFinalizer])],
    },
    status: {
      ...definition.status,
      conditions: setCondition(definition.status?.conditions, {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: definition.metadata.deletionTimestamp ?? formatTime(0),
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      }),
    },
  }),
};

type Conversion = NonNullable<Definition['spec']['conversion']>;

function withDefaultPort(conversion: Conversion): Conversion {
  return mapMember(conversion, 'webhook', (webhook) =>
    mapMember(webhook, 'clientConfig', (config) =>
      mapMember(config, 'service', (service) => fill(service, { port: 443 })),
    ),
  );
}

const storageVersions = ({ spec }: Definition): CustomResourceDefinitionVersion[] =>
  spec.versions.filter(({ storage }) => storage);

function initialStatus(definition: Definition): Definition['status'] {
  const [storage] = storageVersions(definition);
  return {
    acceptedNames: { plural: '', kind: '' },
    storedVersions: storage ? [storage.name] : undefined,
  };
}

function withStoredVersion(
  status: NonNullable<Definition['status']>,
  definition: Definition,
): Definition['status'] {
  const names = storageVersions(definition).map(({ name }) => name);
  return { ...status, storedVersions: [...new Set([...(status.storedVersions ?? []), ...names])] };
}

function definitionErrors(definition: Definition, old?: Definition): FieldError[] {
  const { spec } = definition;
  return [
    ...groupErrors(spec.group),
    ...scopeErrors(spec.scope),
    ...nameErrors(definition),
    ...versionErrors(definition),
    ...schemaErrors(definition),
    ...conversionErrors(definition, { allowsAnyBundle: !old || allowsAnyBundle(old) }),
  ];
}

function groupErrors(group: string): FieldError[] {
  const path = 'spec.group';
  if (!group) return [required(path)];
  const messages = isDns1123Subdomain(group);
  if (messages.length > 0) return [invalid(path, group, messages.join(','))];
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')];
}

function scopeErrors(scope: string): FieldError[] {
  if (!scope) return [required('spec.scope')];
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)];
}

/** What says yes to a group that belongs to the Kubernetes project. Source: apihelpers.GetAPIApprovalState. */
const approval = 'api-approved.kubernetes.io';
const proposal = 'see https://github.com/kubernetes/enhancements/pull/1111';

type ApprovalState = 'missing' | 'bypassed' | 'approved' | 'invalid';

function approvalState({ metadata }: Definition): ApprovalState {
  const text = metadata.annotations?.[approval] ?? '';
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return URL.canParse(text) && new URL(text).host !== '' ? 'approved' : 'invalid';
}

/** Groups below k8s.io and kubernetes.io belong to the Kubernetes project. */
function approvalErrors(definition: Definition, old?: Definition): FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(definition.spec.group)) return [];
  const state = approvalState(definition);
  if (old && approvalState(old) === state) return [];
  const path = `metadata.annotations[${approval}]`;
  const wanted = `protected groups must have approval annotation "${approval}"`;
  if (state === 'missing') return [required(path, `${wanted}, ${proposal}`)];
  if (state !== 'invalid') return [];
  const detail = `${wanted} with either a URL or a reason starting with "unapproved", ${proposal}`;
  return [invalid(path, definition.metadata.annotations?.[approval], detail)];
}

function preserveErrors(definition: Definition, old?: Definition): FieldError[] {
  if (!definition.spec.preserveUnknownFields || old?.spec.preserveUnknownFields) return [];
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid('spec.preserveUnknownFields', true, detail)];
}

function nameErrors({ spec }: Definition): FieldError[] {
  const { names } = spec;
  const errors: FieldError[] = [];
  const check = (field: string, value: string, mixedCase = false) => {
    const messages = isDns1035Label(mixedCase ? value.toLowerCase() : value);
    if (messages.length === 0) return;
    const prefix = mixedCase ? 'may have mixed case, but should otherwise match: ' : '';
    errors.push(invalid(`spec.names.${field}`, value, `${prefix}${messages.join(',')}`));
  };
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    const value = names[field];
    if (!value) errors.push(required(`spec.names.${field}`));
    else check(field, value, field === 'kind' || field === 'listKind');
  }
  names.shortNames?.forEach((name, i) => check(`shortNames[${i}]`, name));
  names.categories?.forEach((name, i) => check(`categories[${i}]`, name));
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'));
  }
  return errors;
}

function immutableErrors(definition: Definition, old: Definition): FieldError[] {
  const errors: FieldError[] = [];
  const same = (field: string, a: unknown, b: unknown) => {
    if (a !== b) errors.push(invalid(field, a, 'field is immutable'));
  };
  same('spec.group', definition.spec.group, old.spec.group);
  same('spec.names.plural', definition.spec.names.plural, old.spec.names.plural);
  const established = old.status?.conditions?.some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );
  if (established) {
    same('spec.scope', definition.spec.scope, old.spec.scope);
    same('spec.names.kind', definition.spec.names.kind, old.spec.names.kind);
  }
  return errors;
}
