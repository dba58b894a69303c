import type { Service } from '@tinkernetes/api';
import type { AdmissionPlugin } from '../contracts';
import { concerns, notAdmitted } from './answers';

/** Nobody takes over further addresses by Service.spec.externalIPs (CVE-2020-8554); those that are there may stay. */
export const denyServiceExternalIPs: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  handles: (a) =>
    (a.operation === 'CREATE' || a.operation === 'UPDATE') && concerns(a, { resource: 'services' }),
  validate: (a) => {
    const [now, old] = [a.object as Service, a.oldObject as Service | undefined];
    const before = old?.spec?.externalIPs ?? [];
    if ((now.spec?.externalIPs ?? []).every((address) => before.includes(address))) return;
    throw notAdmitted(a, 'Use of external IPs is denied by admission control.');
  },
};
