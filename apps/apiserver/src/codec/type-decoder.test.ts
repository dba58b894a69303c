import { builtInCodec } from './object-codec';

const pods = builtInCodec({ group: '', version: 'v1', kind: 'Pod' });
const deployments = builtInCodec({ group: 'apps', version: 'v1', kind: 'Deployment' });
const pod = (spec: object) => ({ metadata: { name: 'a' }, spec });

describe('builtInCodec', () => {
  it.each([
    [
      { containers: 'x' },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      { hostNetwork: 'yes' },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool',
    ],
    [
      { terminationGracePeriodSeconds: 1.5 },
      'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64',
    ],
    [
      { containers: [{ name: 'c', image: 5 }] },
      'json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string',
    ],
    [
      { volumes: [{ name: 'v', configMap: 'x' }] },
      'json: cannot unmarshal string into Go struct field Volume.spec.volumes.VolumeSource.configMap of type v1.ConfigMapVolumeSource',
    ],
    [
      { volumes: [{ name: 'v', configMap: { name: 1 } }] },
      'json: cannot unmarshal number into Go struct field ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.LocalObjectReference.name of type string',
    ],
    [
      { volumes: [{ name: 1 }] },
      'json: cannot unmarshal number into Go struct field Volume.spec.volumes.name of type string',
    ],
  ])('says in the words of encoding/json what does not fit: %j', (spec, message) => {
    expect(() => pods.decode(pod(spec))).toThrow(
      `Pod in version "v1" cannot be handled as a Pod: ${message}`,
    );
  });

  it('refuses numbers that overflow int32', () => {
    expect(() => deployments.decode({ spec: { replicas: 3e9 } })).toThrow(
      'cannot unmarshal number 3000000000',
    );
  });

  it('drops what omitempty drops and keeps what pointers keep', () => {
    const { object } = pods.decode(
      pod({
        hostNetwork: false,
        automountServiceAccountToken: false,
        nodeSelector: {},
        nodeName: '',
        containers: [],
      }),
    );
    expect((object as unknown as { spec: object }).spec).toEqual({
      automountServiceAccountToken: false,
      containers: [],
    });
  });

  it('writes fields in upstream order, whatever the order they came in', () => {
    const { object } = pods.decode({
      spec: { containers: [] },
      metadata: { labels: { b: '1', a: '2' }, name: 'x' },
    });
    expect(JSON.stringify(object)).toBe(
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","labels":{"a":"2","b":"1"}},"spec":{"containers":[]},"status":{}}',
    );
  });

  it('names unknown fields in document order', () => {
    const { unknown } = pods.decode(pod({ containers: [{ name: 'c', imagee: 'x' }], nodeNam: 'y' }));
    expect(unknown).toEqual(['unknown field "spec.containers[0].imagee"', 'unknown field "spec.nodeNam"']);
  });

  it('brings quantities and times into canonical form', () => {
    const resources = { requests: { cpu: '0.5', memory: '1024Mi' } };
    const { object } = pods.decode({
      metadata: { name: 'a', creationTimestamp: '2026-01-01T01:00:00+01:00' },
      spec: { containers: [{ name: 'c', resources }] },
    });
    expect(object.metadata.creationTimestamp).toBe('2026-01-01T00:00:00Z');
    expect(JSON.stringify(object)).toContain('"requests":{"cpu":"500m","memory":"1Gi"}');
  });

  it('leaves what has its form and order already as it is, and brings the rest into order', () => {
    const { object } = pods.decode(pod({ containers: [{ name: 'c', image: 'i' }], hostNetwork: true }));
    const { spec } = object as { spec?: object };
    const again = pods.decode(object).object as { spec?: object };
    expect(again.spec).toBe(spec);
    const shuffled = pods.decode(pod({ hostNetwork: true, containers: [{ image: 'i', name: 'c' }] })).object;
    expect(JSON.stringify(shuffled)).toBe(JSON.stringify(object));
  });
});
