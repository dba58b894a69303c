import type { ServiceSpec } from '@tinkernetes/api';
import { initFamilies } from './ip-families';

const init = (spec: ServiceSpec) => initFamilies({ metadata: { name: 's' }, spec });

describe('families of a new Service', () => {
  it.each<[string, ServiceSpec, string[], string]>([
    ['one where nothing is asked', {}, ['IPv4'], 'SingleStack'],
    [
      'both where nothing selects',
      { clusterIP: 'None', clusterIPs: ['None'] },
      ['IPv4', 'IPv6'],
      'RequireDualStack',
    ],
    [
      'the first as asked where nothing selects',
      { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv6'] },
      ['IPv6', 'IPv4'],
      'RequireDualStack',
    ],
  ])('are %s', (_, spec, families, policy) => {
    const { service, errors } = init(spec);
    expect(errors).toEqual([]);
    expect(service.spec?.ipFamilies).toEqual(families);
    expect(service.spec?.ipFamilyPolicy).toBe(policy);
  });

  it.each<[ServiceSpec, string]>([
    [{ ipFamilies: ['IPv6'] }, 'not configured on this cluster'],
    [{ ipFamilyPolicy: 'RequireDualStack' }, 'this cluster is not configured for dual-stack services'],
    [{ ipFamilies: ['IPv4', 'IPv6'] }, 'when multiple IP families are specified'],
    [{ clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] }, 'IPv6 is not configured on this cluster'],
    [{ clusterIP: 'none', clusterIPs: ['none'] }, 'must be a valid IP address'],
  ])('refuse %j', (spec, detail) => {
    const { errors } = init(spec);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toContain(detail);
  });
});
