import type { Pod } from '@tinkernetes/api';

const maxHostname = 63;

/**
 * Host name and, where the Pod has a subdomain, its domain `<subdomain>.<namespace>.svc.<clusterDomain>`.
 * Source: pkg/kubelet GeneratePodHostNameAndDomain.
 */
export function podHostname(pod: Pod, clusterDomain: string): { hostname: string; domain: string } {
  const { hostname, subdomain, hostnameOverride, setHostnameAsFQDN } = pod.spec;
  if (hostnameOverride) return { hostname: hostnameOverride, domain: '' };
  const name = hostname || pod.metadata.name.slice(0, maxHostname).replace(/[-.]+$/, '');
  const domain = subdomain ? `${subdomain}.${pod.metadata.namespace ?? ''}.svc.${clusterDomain}` : '';
  return { hostname: setHostnameAsFQDN && domain ? `${name}.${domain}` : name, domain };
}
