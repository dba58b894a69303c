import type { AppArmorProfile, Container, Pod } from '@tinkernetes/api';
import { semanticEqual } from '@tinkernetes/apimachinery';
import type { StrategyContext } from '../../../contracts';
import { mapList, mapMember } from '../../fill';

const prefix = 'container.apparmor.security.beta.kubernetes.io/';
const localhost = 'localhost/';

/**
 * Profiles that only annotations give become those of the containers' fields, with a warning. Source: pod
 * strategy.applyAppArmorVersionSkew.
 */
export function withAppArmorFields(pod: Pod, { warn }: Pick<StrategyContext, 'warn'>): Pod {
  const annotations = pod.metadata.annotations ?? {};
  if (pod.spec?.os?.name === 'windows' || !Object.keys(annotations).some((key) => key.startsWith(prefix)))
    return pod;
  const ofPod = pod.spec?.securityContext?.appArmorProfile;
  const change = <C extends Pick<Container, 'name' | 'securityContext'>>(container: C): C => {
    const key = `${prefix}${container.name}`;
    if (!Object.hasOwn(annotations, key) || container.securityContext?.appArmorProfile) return container;
    const profile = profileOf(annotations[key] ?? '');
    if (profile && semanticEqual(profile, ofPod)) return container;
    warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
    if (!profile) return container;
    return { ...container, securityContext: { ...container.securityContext, appArmorProfile: profile } };
  };
  return mapMember(pod, 'spec', (spec) => {
    const inited = mapMember(spec, 'initContainers', (list) => mapList(list, change));
    return mapMember(inited, 'containers', (list) => mapList(list, change));
  });
}

/** Undefined: no profile that there could be. */
function profileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const name = annotation.startsWith(localhost) ? annotation.slice(localhost.length) : '';
  return name === '' ? undefined : { type: 'Localhost', localhostProfile: name };
}
