import type { ObjectMeta, PodSpec } from '@tinkernetes/api';
import { child, invalid, mapKey } from '@tinkernetes/apimachinery';
import { placedContainers } from './placed-containers';
import type { Errors } from '../rules';

const mirror = 'kubernetes.io/config.mirror';
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';
const seccompOfPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompOfContainer = 'container.seccomp.security.alpha.kubernetes.io/';
const appArmor = 'container.apparmor.security.beta.kubernetes.io/';

/** Annotations that mean something. Source: core/validation.ValidatePodSpecificAnnotations. */
export function validatePodAnnotations(
  { metadata, spec }: { metadata?: Partial<ObjectMeta>; spec?: PodSpec },
  path: string,
): Errors {
  const names = spec ? placedContainers(spec, 'spec').map(([container]) => container.name) : [];
  return Object.entries(metadata?.annotations ?? {}).flatMap(([key, value]) => {
    const at = mapKey(path, key);
    if (key === mirror && !spec?.nodeName)
      return [invalid(at, value, 'must set spec.nodeName if mirror pod annotation is set')];
    if (key === deletionCost && !isInt32(value)) return [invalid(at, value, 'must be a 32bit integer')];
    if (key === seccompOfPod || key.startsWith(seccompOfContainer))
      return isSeccompProfile(value)
        ? []
        : [invalid(child(path, key), value, 'must be a valid seccomp profile')];
    if (!key.startsWith(appArmor)) return [];
    const name = key.slice(appArmor.length);
    return [
      ...(names.includes(name) ? [] : [invalid(at, name, 'container not found')]),
      ...(isAppArmorProfile(value)
        ? []
        : [invalid(at, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`)]),
    ];
  });
}

/** As upstream reads them: without a plus sign or leading zeros. */
const isInt32 = (text: string): boolean =>
  /^(0|-?[1-9][0-9]*)$/.test(text) && Number(text) === (Number(text) | 0);

const isSeccompProfile = (text: string): boolean =>
  ['docker/default', 'runtime/default', 'unconfined'].includes(text) || text.startsWith('localhost/');

const isAppArmorProfile = (text: string): boolean =>
  ['', 'runtime/default', 'unconfined'].includes(text) || text.startsWith('localhost/');
