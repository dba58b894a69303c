import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '@tinkernetes/api';
import {
  invalid,
  isDns1035Label,
  isDns1123Subdomain,
  notSupported,
  required,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { setCondition } from '@tinkernetes/apimachinery';
import type { FieldError, Strategy } from '../contracts';
import { fill, mapMember } from '../registry/fill';
import { conversionErrors } from './conversion-rules';
import { withDefaultNames } from './names';
import { schemaErrors } from './schema-rules';
import { versionErrors } from './version-rules';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

type Definition = CustomResourceDefinition;

const metaRules = { isNamespaced: false, nameCheck: isDns1123Subdomain };
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
    ...validateObjectMeta(definition.metadata, metaRules),
    ...definitionErrors(definition),
  ],
  prepareForUpdate: (definition, old) => ({
    ...definition,
    status: withStoredVersion(old.status ?? {}, definition),
  }),
  validateUpdate: (definition, old) => [
    ...validateObjectMetaUpdate(definition.metadata, old.metadata),
    ...definitionErrors(definition),
    ...immutableErrors(definition, old),
  ],
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

function definitionErrors(definition: Definition): FieldError[] {
  const { spec, metadata } = definition;
  const errors: FieldError[] = [...approvalErrors(definition)];
  if (metadata.name && metadata.name !== `${spec.names.plural}.${spec.group}`) {
    errors.push(invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (!spec.group) errors.push(required('spec.group'));
  else {
    for (const message of isDns1123Subdomain(spec.group))
      errors.push(invalid('spec.group', spec.group, message));
    if (isDns1123Subdomain(spec.group).length === 0 && !spec.group.includes('.')) {
      errors.push(invalid('spec.group', spec.group, 'should be a domain with at least one dot'));
    }
  }
  if (!spec.scope) errors.push(required('spec.scope'));
  else if (!scopes.includes(spec.scope)) errors.push(notSupported('spec.scope', spec.scope, scopes));
  errors.push(...nameErrors(definition), ...versionErrors(definition), ...schemaErrors(definition));
  errors.push(...conversionErrors(definition));
  return errors;
}

/** Groups below k8s.io and kubernetes.io belong to the Kubernetes project. */
function approvalErrors({ spec, metadata }: Definition): FieldError[] {
  const protectedGroup = /(^|\.)(k8s|kubernetes)\.io$/.test(spec.group);
  const annotation = 'api-approved.kubernetes.io';
  if (!protectedGroup || metadata.annotations?.[annotation]) return [];
  return [
    required(
      `metadata.annotations[${annotation}]`,
      `protected groups must have approval annotation "${annotation}", see https://github.com/kubernetes/enhancements/pull/1111`,
    ),
  ];
}

function nameErrors({ spec }: Definition): FieldError[] {
  const { names } = spec;
  const errors: FieldError[] = [];
  const check = (field: string, value: string, mixedCase: boolean) => {
    for (const message of isDns1035Label(mixedCase ? value.toLowerCase() : value)) {
      const text = mixedCase ? `may have mixed case, but should otherwise match: ${message}` : message;
      errors.push(invalid(`spec.names.${field}`, value, text));
    }
  };
  if (!names.plural) errors.push(required('spec.names.plural'));
  else check('plural', names.plural, false);
  if (names.singular) check('singular', names.singular, false);
  else errors.push(required('spec.names.singular'));
  if (!names.kind) errors.push(required('spec.names.kind'));
  else check('kind', names.kind, true);
  if (names.listKind) check('listKind', names.listKind, true);
  else errors.push(required('spec.names.listKind'));
  names.shortNames?.forEach((name, i) => check(`shortNames[${i}]`, name, false));
  names.categories?.forEach((name, i) => check(`categories[${i}]`, name, false));
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
  const names = new Set(definition.spec.versions.map(({ name }) => name));
  old.status?.storedVersions?.forEach((version, i) => {
    if (!names.has(version)) {
      errors.push(
        invalid(
          `status.storedVersions[${i}]`,
          version,
          'missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions'.replaceAll(
            'v1 ',
            `${version} `,
          ),
        ),
      );
    }
  });
  return errors;
}
