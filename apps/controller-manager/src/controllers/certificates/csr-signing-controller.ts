import { readFile } from 'node:fs/promises';
import { CertificateSigningRequests, type CertificateSigningRequest } from '@tinkernetes/api';
import { formatTime } from '@tinkernetes/component-base';
import type { Reconciler } from '@tinkernetes/controller';
import type { CertificateAuthority } from '@tinkernetes/pki';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { grantedDurationMs, grantedUsages } from './granted';
import { isApproved, isDecidedAgainst, isSignerName, requestPem, signerRefusal } from './signers';

/** Signs approved requests of Kubernetes' own signers. Source: k8s.io/kubernetes/pkg/controller/certificates/signer. */
export function startCsrSigningController(context: ControllerContext): RunnableController {
  const { client, clock, flags, informers } = context;
  const requests = informers.for(CertificateSigningRequests);
  const queue = context.queues.create('certificatesigningrequest-signing-controller');
  requests.addEventHandler({
    added: (csr) => queue.add(csr.metadata.name),
    updated: (_, csr) => queue.add(csr.metadata.name),
  });
  let authority: Promise<CertificateAuthority> | undefined;

  async function sign(csr: CertificateSigningRequest): Promise<string> {
    const { signCertificateSigningRequest } = await import('@tinkernetes/pki');
    authority ??= loadAuthority(
      flags['cluster-signing-cert-file'] ?? '',
      flags['cluster-signing-key-file'] ?? '',
    );
    return signCertificateSigningRequest(await authority, {
      request: requestPem(csr),
      ...grantedUsages(csr.spec.usages ?? []),
      now: clock.now(),
      durationMs: grantedDurationMs(csr.spec.expirationSeconds, flags['cluster-signing-duration']),
    });
  }

  const reconciler: Reconciler = {
    name: 'certificatesigningrequest-signing-controller',
    async reconcile(name) {
      const csr = requests.lister.get(name);
      if (
        !csr ||
        !isSignerName(csr.spec.signerName) ||
        csr.status?.certificate ||
        !isApproved(csr.status) ||
        isDecidedAgainst(csr.status)
      )
        return;
      if (!flags['cluster-signing-cert-file']) return;
      const { readCertificateSigningRequest } = await import('@tinkernetes/pki');
      const asked = await readCertificateSigningRequest(requestPem(csr));
      const refusal = signerRefusal(csr.spec.signerName, asked, csr.spec.usages ?? []);
      const requestsClient = client.for(CertificateSigningRequests);
      if (refusal) {
        const now = formatTime(clock.now());
        const failed = {
          type: 'Failed',
          status: 'True',
          reason: 'SignerValidationFailure',
          message: refusal,
          lastUpdateTime: now,
          lastTransitionTime: now,
        };
        await requestsClient.updateStatus({
          ...csr,
          status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), failed] },
        });
        return;
      }
      const certificate = await sign(csr);
      await requestsClient.updateStatus({
        ...csr,
        status: { ...csr.status, certificate: Buffer.from(certificate).toString('base64') },
      });
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 5 });
}

async function loadAuthority(certificateFile: string, keyFile: string): Promise<CertificateAuthority> {
  const [certificate, key] = await Promise.all([
    readFile(certificateFile, 'utf8'),
    readFile(keyFile, 'utf8'),
  ]);
  return { certificate, key };
}
