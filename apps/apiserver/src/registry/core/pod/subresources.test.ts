import type { Container, Pod, PodSpec } from '@tinkernetes/api';
import { prepareEphemeralContainers, validateEphemeralContainersUpdate } from './ephemeral';
import { preparePodResize, validatePodResize } from './resize';

const defaults = {
  image: 'i',
  imagePullPolicy: 'Always',
  terminationMessagePolicy: 'File',
} as const;
const main = (resources: Container['resources']): Container => ({ name: 'main', ...defaults, resources });
const small = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '64Mi' } };

const podOf = (spec: Partial<PodSpec>, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'ns', ...metadata },
  spec: { containers: [main(small)], restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', ...spec },
  status: { phase: 'Pending', qosClass: 'Burstable' },
});
const told = (errors: readonly { field: string; message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`);

describe('pods/resize', () => {
  const resize = (spec: Partial<PodSpec>, old: Pod = podOf({})) =>
    told(validatePodResize(preparePodResize(podOf(spec), old), old));

  it.each<[string, Partial<PodSpec>, string[]]>([
    ['more CPU', { containers: [main({ ...small, requests: { cpu: '150m', memory: '64Mi' } })] }, []],
    [
      'a limit less',
      { containers: [main({ ...small, limits: { memory: '64Mi' } })] },
      ['spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed'],
    ],
    [
      'another container',
      { containers: [main(small), { ...main(small), name: 'other' }] },
      ['spec.containers: Forbidden: containers may not be added or removed on resize'],
    ],
    [
      'another policy',
      {
        containers: [
          { ...main(small), resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
        ],
      },
      ['spec: Forbidden: only cpu and memory resources are mutable'],
    ],
  ])('with %s', (_what, spec, errors) => {
    expect(resize(spec)).toEqual(errors);
  });

  it('takes nothing but resources, also those of the whole Pod', () => {
    const old = podOf({ resources: { requests: { cpu: '1' } } }, { labels: { a: 'old' } });
    const wanted = podOf(
      { resources: { requests: { cpu: '2' } }, activeDeadlineSeconds: 5 },
      { labels: { a: 'new' } },
    );
    const { metadata, spec } = preparePodResize(wanted, old);
    expect([metadata.labels, spec.resources, spec.activeDeadlineSeconds]).toEqual([
      { a: 'old' },
      { requests: { cpu: '2' } },
      undefined,
    ]);
  });

  it('is not for static Pods and those of Windows', () => {
    const mirror = podOf({}, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    expect(resize({}, mirror)).toEqual(['[]: Forbidden: static pods cannot be resized']);
    expect(resize({}, podOf({ os: { name: 'windows' } }))).toEqual([
      '[]: Forbidden: windows pods cannot be resized',
    ]);
  });
});

describe('pods/ephemeralcontainers', () => {
  const debug = { name: 'debug', ...defaults };
  const old = podOf({ ephemeralContainers: [debug] });
  const update = (containers: PodSpec['ephemeralContainers'], before = old) =>
    told(
      validateEphemeralContainersUpdate(
        prepareEphemeralContainers(podOf({ ephemeralContainers: containers }), before),
        before,
      ),
    );

  it('can be added', () => {
    expect(update([debug, { ...debug, name: 'more' }])).toEqual([]);
  });

  it('cannot be changed or removed', () => {
    expect(update([])).toEqual([
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
    ]);
    const [changed] = update([{ ...debug, image: 'j' }]);
    expect(changed).toContain('existing ephemeral containers "debug" may not be changed\n@@ -1,6 +1,6 @@');
    expect(changed).toContain('- "Image": "i",\n+ "Image": "j",\n');
  });

  it('is not for static Pods', () => {
    const mirror = podOf({ nodeName: 'n' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    expect(update([debug], mirror)).toEqual([
      '[]: Forbidden: static pods do not support ephemeral containers',
    ]);
  });
});
