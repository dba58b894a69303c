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
  emailAddresses: readonly string[];
  uris: readonly string[];
}

/**
 * Why a request is not what its signer signs, in the words of upstream's condition, or undefined when it is.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
 */
export function signerRefusal(
  signer: SignerName,
  asked: RequestedCertificate,
  usages: readonly string[],
): string | undefined {
  switch (signer) {
    case 'kubernetes.io/kube-apiserver-client-kubelet':
      return (
        refusalOfGroup(asked) ??
        refusalOfNames(asked, ['dnsNames', 'emailAddresses', 'ipAddresses', 'uris']) ??
        refusalOfName(asked) ??
        refusalOfUsages(usages, 'client auth')
      );
    case 'kubernetes.io/kubelet-serving':
      return (
        refusalOfGroup(asked) ??
        (asked.dnsNames.length + asked.ipAddresses.length === 0
          ? 'DNS or IP subjectAltName is required'
          : undefined) ??
        refusalOfNames(asked, ['emailAddresses', 'uris']) ??
        refusalOfUsages(usages, 'server auth') ??
        refusalOfName(asked)
      );
    case 'kubernetes.io/kube-apiserver-client': {
      const optional = ['digital signature', 'key encipherment'];
      const wrong = usages.find((usage) => usage !== 'client auth' && !optional.includes(usage));
      if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
      if (!usages.includes('client auth'))
        return 'missing required usage for client certificate: client auth';
      return undefined;
    }
    case 'kubernetes.io/legacy-unknown':
      return undefined;
  }
}

const refusalOfGroup = ({ organizations }: RequestedCertificate): string | undefined =>
  organizations.length === 1 && organizations[0] === 'system:nodes'
    ? undefined
    : 'subject organization is not system:nodes';

const refusalOfName = ({ commonName }: RequestedCertificate): string | undefined =>
  commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:';

type AlternativeName = 'dnsNames' | 'emailAddresses' | 'ipAddresses' | 'uris';
const kindsOfNames: Record<AlternativeName, string> = {
  dnsNames: 'DNS',
  emailAddresses: 'Email',
  ipAddresses: 'IP',
  uris: 'URI',
};

function refusalOfNames(
  asked: RequestedCertificate,
  forbidden: readonly AlternativeName[],
): string | undefined {
  const found = forbidden.find((kind) => asked[kind].length > 0);
  return found && `${kindsOfNames[found]} subjectAltNames are not allowed`;
}

/** Only RSA keys need `key encipherment`. */
function refusalOfUsages(usages: readonly string[], purpose: string): string | undefined {
  const needed = ['digital signature', purpose];
  const allowed = [...needed, 'key encipherment'];
  return needed.every((usage) => usages.includes(usage)) && usages.every((usage) => allowed.includes(usage))
    ? undefined
    : `usages did not match [${[...allowed].sort().join(' ')}]`;
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
