import type { Pod } from '@tinkernetes/api';
import { describeViolations, evaluate } from './evaluate';
import { policyOf } from './policy';

type PodSpec = NonNullable<Pod['spec']>;
const container = (more: object = {}) => ({ name: 'c', image: 'i', ...more });
const spec = (more: object = {}, ofContainer: object = {}): PodSpec =>
  ({ containers: [container(ofContainer)], ...more }) as PodSpec;
const secure = {
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  },
};
const found = (
  level: 'baseline' | 'restricted',
  pod: PodSpec,
  annotations?: Record<string, string>,
  version = 'latest',
) => describeViolations(evaluate({ level, version }, pod, { annotations }));

describe('the baseline level', () => {
  it.each([
    [spec(), ''],
    [spec({ hostNetwork: true, hostIPC: true }), 'host namespaces (hostNetwork=true, hostIPC=true)'],
    [
      spec(
        {},
        {
          ports: [
            { containerPort: 1, hostPort: 80 },
            { containerPort: 2, hostPort: 443 },
          ],
        },
      ),
      'hostPort (container "c" uses hostPorts 443, 80)',
    ],
    [spec({ volumes: [{ name: 'a', hostPath: { path: '/' } }] }), 'hostPath volumes (volume "a")'],
    [
      spec({}, { securityContext: { capabilities: { add: ['NET_ADMIN', 'CHOWN'] } } }),
      'non-default capabilities (container "c" must not include "NET_ADMIN" in securityContext.capabilities.add)',
    ],
    [
      spec({ securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u' } } }),
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set)',
    ],
    [
      spec({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
      'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      spec({ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }),
      'forbidden sysctls (kernel.msgmax)',
    ],
    [
      spec({}, { livenessProbe: { httpGet: { host: '10.0.0.1', port: 80 } } }),
      'probe or lifecycle host (container "c" uses probe or lifecycle host "10.0.0.1")',
    ],
    [
      spec({}, { securityContext: { procMount: 'Unmasked' } }),
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
  ])('judges %#', (pod, expected) => {
    expect(found('baseline', pod)).toBe(expected);
  });

  it('has the checks of the version that is asked for', () => {
    const pod = spec({}, { livenessProbe: { tcpSocket: { host: 'h', port: 80 } } });
    expect(found('baseline', pod, undefined, 'v1.33')).toBe('');
    expect(found('baseline', pod, undefined, 'v1.34')).not.toBe('');
  });
});

describe('the restricted level', () => {
  it.each([
    [spec({}, secure), ''],
    [spec({ os: { name: 'windows' }, securityContext: { runAsNonRoot: true } }), ''],
    [
      spec({ volumes: [{ name: 'n', nfs: { server: 's', path: '/' } }] }, secure),
      'restricted volume types (volume "n" uses restricted volume type "nfs")',
    ],
    [spec({ securityContext: { runAsUser: 0 } }, secure), 'runAsUser=0 (pod must not set runAsUser=0)'],
    [spec({ hostUsers: false }, { securityContext: { ...secure.securityContext, runAsNonRoot: false } }), ''],
    [
      spec({ initContainers: [{ ...container(secure), name: 'i' }] }),
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
  ])('judges %#', (pod, expected) => {
    expect(found('restricted', pod)).toBe(expected);
  });
});

describe('policyOf', () => {
  it('is privileged without labels, and strict where a label says nothing sensible', () => {
    expect(policyOf(undefined).enforce).toEqual({ level: 'privileged', version: 'latest' });
    const policy = policyOf({
      'pod-security.kubernetes.io/enforce': 'lax',
      'pod-security.kubernetes.io/warn-version': 'v1',
    });
    expect(policy.enforce.level).toBe('restricted');
    expect(policy.errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "lax": must be one of privileged, baseline, restricted',
      'metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "v1": must be "latest" or "v1.x"',
    ]);
  });
});
