import type { Pod } from '@tinkernetes/api';
import { forbidden, semanticEqual } from '@tinkernetes/apimachinery';
import { goDiff } from '../../go-diff';
import type { Errors } from '../../rules';
import { isMirror, wholePodPath, withSpecOnly } from './subresource-update';
import { validateWholePod } from './validate';

/** Through `ephemeralcontainers` nothing else of a Pod changes. Source: pod strategy.dropNonEphemeralContainerUpdates. */
export const prepareEphemeralContainers = (pod: Pod, old: Pod): Pod =>
  withSpecOnly(pod, old, { ...old.spec, ephemeralContainers: pod.spec.ephemeralContainers });

/** Ephemeral containers can be added, and stay as they are. Source: core/validation.ValidatePodEphemeralContainersUpdate. */
export function validateEphemeralContainersUpdate(pod: Pod, old: Pod): Errors {
  const errors = validateWholePod(pod);
  if (isMirror(pod)) errors.push(forbidden(wholePodPath, 'static pods do not support ephemeral containers'));
  for (const before of old.spec.ephemeralContainers ?? []) {
    const now = pod.spec.ephemeralContainers?.find(({ name }) => name === before.name);
    const refuse = (detail: string) =>
      errors.push(
        forbidden('spec.ephemeralContainers', `existing ephemeral containers "${before.name}" ${detail}`),
      );
    if (!now) refuse('may not be removed\n');
    else if (!semanticEqual(now, before))
      refuse(`may not be changed\n${goDiff(before, now, 'EphemeralContainer')}`);
  }
  return errors;
}
