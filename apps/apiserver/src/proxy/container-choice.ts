import type { Pod } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';

/** The container that a request is about; the only one need not be named. Source: registry/core/pod.validateContainer. */
export function containerOf(pod: Pod, wanted: string): string {
  const names = (containers: readonly { name: string }[] | undefined) =>
    (containers ?? []).map((c) => c.name);
  const main = names(pod.spec?.containers);
  const init = names(pod.spec?.initContainers);
  const ephemeral = names(pod.spec?.ephemeralContainers);
  const podName = pod.metadata.name ?? '';
  if (wanted !== '') {
    if ([...main, ...init, ...ephemeral].includes(wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${podName}`);
  }
  const [only] = main;
  if (only !== undefined && main.length === 1) return only;
  const required = `a container name must be specified for pod ${podName}`;
  if (main.length === 0) throw badRequest(required);
  const choices = [...init, ...main, ...ephemeral].join(' ');
  throw badRequest(`${required}, choose one of: [${choices}]`);
}
