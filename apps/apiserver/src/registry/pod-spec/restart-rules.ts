import type { Container } from '@tinkernetes/api';
import { child, notSupported, required, tooMany } from '@tinkernetes/apimachinery';
import { eachOf } from '../rules';
import type { Errors } from '../rules';

const mostRules = 20;
const mostExitCodes = 255;

/** When a container is started again. Source: core/validation.validateContainerRestartPolicy. */
export function validateRestartRules(container: Container, path: string, isInit = false): Errors {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  const at = child(path, 'restartPolicyRules');
  const errors: Errors = [];
  if (restartPolicy === undefined && rules.length === 0) return errors;
  const policyPath = child(path, 'restartPolicy');
  if (restartPolicy === undefined)
    errors.push(required(policyPath, 'must specify restartPolicy when restart rules are used'));
  else if (!['Always', 'Never', 'OnFailure'].includes(restartPolicy))
    errors.push(notSupported(policyPath, restartPolicy, ['Always', 'Never', 'OnFailure']));
  // Of init containers without a policy nothing else is said.
  if (isInit && restartPolicy === undefined) return errors;
  if (rules.length > mostRules) errors.push(tooMany(at, rules.length, mostRules));
  return [...errors, ...eachOf(at, rules, validateRule)];
}

type Rule = NonNullable<Container['restartPolicyRules']>[number];

function validateRule({ action, exitCodes }: Rule, path: string): Errors {
  const errors: Errors = [];
  if (!['Restart', 'RestartAllContainers'].includes(action))
    errors.push(notSupported(child(path, 'action'), action ?? '', ['Restart', 'RestartAllContainers']));
  const at = child(path, 'exitCodes');
  if (!exitCodes) return [...errors, required(at, 'must be specified')];
  if (!['In', 'NotIn'].includes(exitCodes.operator))
    errors.push(notSupported(child(at, 'operator'), exitCodes.operator ?? '', ['In', 'NotIn']));
  const count = exitCodes.values?.length ?? 0;
  if (count > mostExitCodes) errors.push(tooMany(child(at, 'values'), count, mostExitCodes));
  return errors;
}
