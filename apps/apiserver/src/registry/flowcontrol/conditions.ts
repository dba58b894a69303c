import { child, duplicate, required } from '@tinkernetes/apimachinery';
import { eachOf } from '../rules';
import type { Errors } from '../rules';

/** Source: flowcontrol/validation.ValidateFlowSchemaStatus and ValidatePriorityLevelConfigurationStatus. */
export function validateConditions(conditions: ReadonlyArray<{ type?: string }> | undefined): Errors {
  const seen = new Set<string>();
  return eachOf('status.conditions', conditions, ({ type = '' }, at) => {
    if (type === '') return [required(child(at, 'type'))];
    const isRepeated = seen.has(type);
    seen.add(type);
    return isRepeated ? [duplicate(child(at, 'type'), type)] : [];
  });
}
