import {
  CertificateSigningRequests,
  SubjectAccessReviews,
  type CertificateSigningRequest,
} from '@tinkernetes/api';
import { formatTime } from '@tinkernetes/component-base';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { requestPem, signerRefusal } from './signers';

const signer = 'kubernetes.io/kube-apiserver-client-kubelet';

interface Recognizer {
  subresource: 'nodeclient' | 'selfnodeclient';
  recognizes(csr: CertificateSigningRequest, commonName: string): boolean;
  message: string;
}

/** The first that recognises the request and whose permission the requester has approves it. */
const recognizers: readonly Recognizer[] = [
  {
    subresource: 'selfnodeclient',
    recognizes: (csr, commonName) => csr.spec.username === commonName,
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  {
    subresource: 'nodeclient',
    recognizes: () => true,
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  },
];

/**
 * Approves the client certificates of kubelets that may have one, so that nodes join by themselves.
 * Source: k8s.io/kubernetes/pkg/controller/certificates/approver.
 */
export function startCsrApprovingController(context: ControllerContext): RunnableController {
  const { client, clock, informers } = context;
  const requests = informers.for(CertificateSigningRequests);
  const queue = context.queues.create('certificatesigningrequest-approving-controller');
  requests.addEventHandler({
    added: (csr) => queue.add(csr.metadata.name),
    updated: (_, csr) => queue.add(csr.metadata.name),
  });

  async function isAllowed(csr: CertificateSigningRequest, subresource: string): Promise<boolean> {
    const { username = '', uid, groups, extra } = csr.spec;
    const review = await client.for(SubjectAccessReviews).create({
      metadata: {},
      spec: {
        user: username,
        uid,
        groups,
        extra,
        resourceAttributes: {
          group: 'certificates.k8s.io',
          resource: 'certificatesigningrequests',
          verb: 'create',
          subresource,
          version: '*',
        },
      },
    });
    return review.status?.allowed ?? false;
  }

  const reconciler: Reconciler = {
    name: 'certificatesigningrequest-approving-controller',
    async reconcile(name) {
      const csr = requests.lister.get(name);
      if (
        !csr ||
        csr.spec.signerName !== signer ||
        csr.status?.certificate ||
        (csr.status?.conditions?.length ?? 0) > 0
      )
        return;
      const { readCertificateSigningRequest } = await import('@tinkernetes/pki');
      const asked = await readCertificateSigningRequest(requestPem(csr)).catch(() => undefined);
      if (!asked || signerRefusal(signer, asked, csr.spec.usages ?? [])) return;
      for (const { recognizes, subresource, message } of recognizers) {
        if (!recognizes(csr, asked.commonName) || !(await isAllowed(csr, subresource))) continue;
        const now = formatTime(clock.now());
        const condition = {
          type: 'Approved',
          status: 'True',
          reason: 'AutoApproved',
          message,
          lastUpdateTime: now,
          lastTransitionTime: now,
        };
        const approved = {
          ...csr,
          status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] },
        };
        await client.for(CertificateSigningRequests).subresource('PUT', name, 'approval', approved);
        return;
      }
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 5 });
}
