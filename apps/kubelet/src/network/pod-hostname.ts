import type { Pod } from '@tinkernetes/api';

const maxHostname = 63;
/** Of the kernel's own name for the machine. */
const maxFullName = 64;

/**
 * Host name and, where the Pod has a subdomain, its domain `<subdomain>.<namespace>.svc.<clusterDomain>`.
 * Source: pkg/kubelet GeneratePodHostNameAndDomain.
 */
export function podHostname(pod: Pod, clusterDomain: string): { hostname: string; domain: string } {
  const { hostname, subdomain, hostnameOverride, setHostnameAsFQDN } = pod.spec;
  if (hostnameOverride) return { hostname: hostnameOverride, domain: '' };
  const name = hostname || pod.metadata.name.slice(0, maxHostname).replace(/[-.]+$/, '');
  const domain = subdomain ? `${subdomain}.${pod.metadata.namespace ?? ''}.svc.${clusterDomain}` : '';
  return { hostname: setHostnameAsFQDN && domain ? fullName(name, domain) : name, domain };
}

function fullName(name: string, domain: string): string {
  const full = `${name}.${domain}`;
  if (full.length > maxFullName)
    throw new Error(
      `failed to construct FQDN from Pod hostname and cluster domain, FQDN ${full} is too long (${maxFullName} characters is the max, ${full.length} characters requested)`,
    );
  return full;
}
