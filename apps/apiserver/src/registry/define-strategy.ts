import { groupOf, type KubeObject, type ResourceDescriptor } from '@tinkernetes/api';
import { isDns1123Subdomain, validateObjectMeta, validateObjectMetaUpdate } from '@tinkernetes/apimachinery';
import type { NameCheck } from '@tinkernetes/apimachinery';
import type { Strategy, StrategyContext } from '../contracts';
import { metadataChecks } from './metadata-checks';
import type { Errors } from './rules';

/** A strategy, less what all kinds have in common: the rules of metadata. */
export interface StrategyRules<T extends KubeObject> extends Omit<
  Strategy<T>,
  'validate' | 'validateUpdate' | 'validateStatusUpdate'
> {
  /** Of the object's name. Default: DNS-1123 subdomain. */
  readonly nameCheck?: NameCheck;
  /** Whether an update of the status looks at the whole metadata, too. Default: where an update does. */
  readonly checksMetaOnStatus?: boolean;
  /** Without the fields of features that are off: before anything else is prepared. */
  readonly withoutDisabledFields?: (object: T) => T;
  /** The rules beyond metadata, at create and at every update. */
  readonly validate?: (object: T, context: StrategyContext) => Errors;
  /** What an update may not do. Default: what `validate` says of the new object. */
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => Errors;
  readonly validateStatusUpdate?: (object: T, old: T, context: StrategyContext) => Errors;
}

/** A strategy for a kind from the rules that are its own. */
export function defineStrategy<T extends KubeObject>(
  descriptor: ResourceDescriptor<T>,
  rules: StrategyRules<T> = {},
): Strategy<T> {
  const {
    nameCheck = isDns1123Subdomain,
    checksMetaOnStatus = true,
    validate,
    validateUpdate,
    validateStatusUpdate,
    withoutDisabledFields = (object) => object,
    prepareForCreate,
    prepareForUpdate,
    ...rest
  } = rules;
  const core = { isNamespaced: descriptor.namespaced, nameCheck };
  const generic = { ...core, hasFreeFinalizers: true };
  // Events are in two groups, whose rules differ.
  const checksFor = ({ apiVersion }: StrategyContext) =>
    metadataChecks({ group: groupOf(apiVersion), resource: descriptor.resource });
  return {
    ...rest,
    prepareForCreate: (object, context) => {
      const kept = withoutDisabledFields(object);
      return prepareForCreate ? prepareForCreate(kept, context) : kept;
    },
    prepareForUpdate: (object, old, context) => {
      const kept = withoutDisabledFields(object);
      return prepareForUpdate ? prepareForUpdate(kept, old, context) : kept;
    },
    validate: (object, context) => [
      ...validateObjectMeta(object.metadata, checksFor(context).core > 0 ? core : generic),
      ...(validate?.(object, context) ?? []),
    ],
    validateUpdate: (object, old, context) => {
      const checks = checksFor(context);
      return [
        ...repeated(checks.updates, () => validateObjectMetaUpdate(object.metadata, old.metadata)),
        ...repeated(checks.core, () => validateObjectMeta(object.metadata, core)),
        ...repeated(checks.generic, () => validateObjectMeta(object.metadata, generic)),
        ...(validateUpdate ? validateUpdate(object, old, context) : (validate?.(object, context) ?? [])),
      ];
    },
    validateStatusUpdate: (object, old, context) => [
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...(checksMetaOnStatus && checksFor(context).core > 0 ? validateObjectMeta(object.metadata, core) : []),
      ...(validateStatusUpdate?.(object, old, context) ?? []),
    ],
  };
}

/** What is found is the same each time: it is looked for once. */
function repeated(times: number, validate: () => Errors): Errors {
  const errors = times > 0 ? validate() : [];
  return Array.from({ length: times }, () => errors).flat();
}
