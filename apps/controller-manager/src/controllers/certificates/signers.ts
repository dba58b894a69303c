import type { CertificateSigningRequest, CertificateSigningRequestStatus } from '@tinkernetes/api';

export type SignerName =
  | 'kubernetes.io/kube-apiserver-client-kubelet'
  | 'kubernetes.io/kube-apiserver-client'
  | 'kubernetes.io/kubelet-serving'
  | 'kubernetes.io/legacy-unknown';

export interface RequestedCertificate {
  commonName: string;
  organizations: readonly string[];
  dnsNames: readonly string[];
  ipAddresses: readonly string[];
}

const nodePrefix = 'system:node:';
const isNodesGroup = (organizations: readonly string[]): boolean =>
  organizations.length === 1 && organizations[0] === 'system:nodes';

function onlyUsages(
  usages: readonly string[],
  allowed: readonly string[],
  needed: readonly string[],
): boolean {
  return usages.every((u) => allowed.includes(u)) && needed.every((u) => usages.includes(u));
}

/**
 * Why a request is not what its signer signs, or undefined when it is.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
 */
export function signerRefusal(
  signer: SignerName,
  asked: RequestedCertificate,
  csr: CertificateSigningRequest,
): string | undefined {
  const usages = csr.spec.usages ?? [];
  switch (signer) {
    case 'kubernetes.io/kube-apiserver-client-kubelet':
      if (!isNodesGroup(asked.organizations)) return 'subject organization is not system:nodes';
      if (!asked.commonName.startsWith(nodePrefix))
        return 'subject common name does not begin with system:node:';
      if (asked.dnsNames.length + asked.ipAddresses.length > 0)
        return 'subject alternative names are not allowed';
      return onlyUsages(
        usages,
        ['key encipherment', 'digital signature', 'client auth'],
        ['digital signature', 'client auth'],
      )
        ? undefined
        : 'usages did not match';
    case 'kubernetes.io/kubelet-serving':
      if (!isNodesGroup(asked.organizations)) return 'subject organization is not system:nodes';
      if (!asked.commonName.startsWith(nodePrefix))
        return 'subject common name does not begin with system:node:';
      if (asked.dnsNames.length + asked.ipAddresses.length === 0)
        return 'DNS or IP subjectAltName is required';
      if (csr.spec.username !== asked.commonName) return 'the requester may only ask for its own node';
      return onlyUsages(
        usages,
        ['key encipherment', 'digital signature', 'server auth'],
        ['digital signature', 'server auth'],
      )
        ? undefined
        : 'usages did not match';
    case 'kubernetes.io/kube-apiserver-client':
      return usages.includes('client auth') && !usages.includes('server auth')
        ? undefined
        : 'usages did not match';
    case 'kubernetes.io/legacy-unknown':
      return undefined;
  }
}

export const isSignerName = (name: string): name is SignerName =>
  [
    'kubernetes.io/kube-apiserver-client-kubelet',
    'kubernetes.io/kube-apiserver-client',
    'kubernetes.io/kubelet-serving',
    'kubernetes.io/legacy-unknown',
  ].includes(name);

export const isApproved = (status: CertificateSigningRequestStatus | undefined): boolean =>
  (status?.conditions?.some((c) => c.type === 'Approved') ?? false) && !isDecidedAgainst(status);

export const isDecidedAgainst = (status: CertificateSigningRequestStatus | undefined): boolean =>
  status?.conditions?.some((c) => c.type === 'Denied' || c.type === 'Failed') ?? false;

/** A CSR's `spec.request`, which is base64 of PEM. */
export const requestPem = (csr: CertificateSigningRequest): string =>
  Buffer.from(csr.spec.request, 'base64').toString();
