import type { Pod } from '@tinkernetes/api';
import { UsageError } from '@tinkernetes/component-base';
import { parseAllowedSysctls, sysctlRefusal } from './sysctls';

const pod = (name: string, spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [], securityContext: { sysctls: [{ name, value: '1' }] }, ...spec },
});
const allowed = parseAllowedSysctls(['kernel.msg*', 'net/core/somaxconn', 'net.ipv4.route.*']);

it.each([
  ['kernel.shm_rmid_forced', {}],
  ['net.ipv4.tcp_syncookies', {}],
  ['net/ipv4/tcp_syncookies', {}],
  ['kernel.msgmax', {}],
  ['net.core.somaxconn', {}],
  ['net.ipv4.route.min_pmtu', {}],
])('takes a Pod with %s', (name, spec) => {
  expect(sysctlRefusal(pod(name, spec), allowed)).toBeUndefined();
});

it.each([
  ['kernel.sem', {}, '"kernel.sem" not allowlisted'],
  ['vm.swappiness', {}, '"vm.swappiness" not allowlisted'],
  ['net.core.somaxconnect', {}, '"net.core.somaxconnect" not allowlisted'],
  ['net.core.somaxconn', { hostNetwork: true }, '"net.core.somaxconn" not allowed with host net enabled'],
  ['kernel.msgmax', { hostIPC: true }, '"kernel.msgmax" not allowed with host ipc enabled'],
])('refuses a Pod with %s and %j', (name, spec, why) => {
  expect(sysctlRefusal(pod(name, spec), allowed)).toEqual({
    reason: 'SysctlForbidden',
    message: `forbidden sysctl: ${why}`,
  });
});

it.each(['vm.swappiness', 'kernel.*', 'Net.core', 'net.*.x', ''])(
  'may not be told to allow %s',
  (pattern) => {
    expect(() => parseAllowedSysctls([pattern])).toThrow(UsageError);
  },
);
