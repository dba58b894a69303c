import type { CertificateSigningRequest } from '@tinkernetes/api';
import type { AdmissionAttributes, AdmissionPlugin, Authorizer } from '../contracts';
import { concerns, notAdmitted } from './answers';

const group = 'certificates.k8s.io';
const resource = 'certificatesigningrequests';
const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client';

/** Approving takes the right to approve for the request's signer. */
export const certificateApproval = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  handles: (a) => a.operation === 'UPDATE' && concerns(a, { group, resource, subresource: 'approval' }),
  validate: (a) => mayUseSigner(a, authorizer, 'approve'),
});

/** Issuing takes the right to sign for the request's signer. */
export const certificateSigning = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateSigning',
  handles: (a) => a.operation === 'UPDATE' && concerns(a, { group, resource, subresource: 'status' }),
  validate: async (a) => {
    const [now, old] = [a.object, a.oldObject] as CertificateSigningRequest[];
    if (now?.status?.certificate !== old?.status?.certificate) await mayUseSigner(a, authorizer, 'sign');
  },
});

/** Nobody requests a certificate of system:masters from the client signer. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  handles: (a) => a.operation === 'CREATE' && concerns(a, { group, resource }),
  validate: async (a) => {
    const { spec } = a.object as CertificateSigningRequest;
    if (spec.signerName !== kubeletClientSigner) return;
    const { readCertificateSigningRequest } = await import('@tinkernetes/pki');
    const { organizations } = await readCertificateSigningRequest(
      Buffer.from(spec.request, 'base64').toString('utf8'),
    );
    if (organizations.includes('system:masters')) {
      throw notAdmitted(a, `use of ${kubeletClientSigner} signer with system:masters group is not allowed`);
    }
  },
};

/** `signers` of that name, or all of its domain. Source: k8s.io/kubernetes/plugin/pkg/admission/certificates. */
async function mayUseSigner(a: AdmissionAttributes, authorizer: Authorizer, verb: string): Promise<void> {
  const { signerName } = (a.oldObject as CertificateSigningRequest).spec;
  const domain = `${signerName.slice(0, signerName.indexOf('/'))}/*`;
  for (const name of [signerName, domain]) {
    const { decision } = await authorizer.authorize({
      user: a.user,
      verb,
      isResourceRequest: true,
      apiGroup: group,
      apiVersion: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
      path: '',
    });
    if (decision === 'allow') return;
  }
  const what = verb === 'approve' ? 'approve requests' : 'sign requests';
  throw notAdmitted(a, `user not permitted to ${what} with signerName "${signerName}"`);
}
