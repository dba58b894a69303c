import type { Container, Pod, Service } from '@tinkernetes/api';
import { makeEnvironment, type EnvironmentContext } from './environment';
import { expand } from './expansion';

const pod: Pod = {
  metadata: { name: 'p', namespace: 'ns', uid: 'u', labels: { app: 'web' } },
  spec: { nodeName: 'node-1', serviceAccountName: 'default', containers: [] },
};

const service = (name: string, namespace: string, clusterIP = '10.96.0.9'): Service => ({
  metadata: { name, namespace },
  spec: { clusterIP, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
});

const context = (more: Partial<EnvironmentContext> = {}): EnvironmentContext => ({
  objects: {
    configMap: (_ns, name) =>
      Promise.resolve(name === 'settings' ? { metadata: { name }, data: { B: '2', A: '1' } } : undefined),
    secret: (_ns, name) =>
      Promise.resolve(
        name === 'keys'
          ? { metadata: { name }, data: { token: Buffer.from('s3cret').toString('base64') } }
          : undefined,
      ),
  },
  services: [],
  node: undefined,
  volumeFile: (volume, path) =>
    Promise.resolve(volume === 'shared' && path === 'made.env' ? "A='from a file'\n" : undefined),
  addresses: { podIPs: ['10.244.0.5'], hostIPs: ['172.30.0.11'] },
  ...more,
});

const environment = async (container: Partial<Container>, more?: Partial<EnvironmentContext>) =>
  Object.fromEntries(await makeEnvironment(pod, { name: 'c', ...container }, context(more)));

describe('expand', () => {
  it.each([
    ['$(A)', 'one'],
    ['x-$(A)-$(A)', 'x-one-one'],
    ['$(NONE)', '$(NONE)'],
    ['$$(A)', '$(A)'],
    ['$A', '$A'],
    ['$(A', '$(A'],
    ['$', '$'],
  ])('%s becomes %s', (text, expected) => {
    expect(expand(text, (name) => (name === 'A' ? 'one' : undefined))).toBe(expected);
  });
});

describe('makeEnvironment', () => {
  it('takes envFrom first and lets env refer to it and to earlier variables', async () => {
    const env = await environment({
      envFrom: [{ prefix: 'CFG_', configMapRef: { name: 'settings' } }],
      env: [
        { name: 'X', value: '$(CFG_A)0' },
        { name: 'Y', value: '$(X)$(Z)' },
        { name: 'Z', value: 'later' },
      ],
    });
    expect(env).toEqual({ CFG_A: '1', CFG_B: '2', X: '10', Y: '10$(Z)', Z: 'later' });
  });

  it('reads secrets, config maps and fields', async () => {
    const env = await environment({
      resources: { limits: { memory: '64Mi', cpu: '250m' } },
      env: [
        { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } },
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'A' } } },
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
        { name: 'MEM', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        {
          name: 'FILE',
          valueFrom: { fileKeyRef: { volumeName: 'shared', path: 'made.env', key: 'A' } },
        },
        {
          name: 'NO_FILE',
          valueFrom: { fileKeyRef: { volumeName: 'shared', path: 'none', key: 'A', optional: true } },
        },
        { name: 'NOPE', valueFrom: { configMapKeyRef: { name: 'absent', key: 'x', optional: true } } },
      ],
    });
    expect(env).toEqual({
      TOKEN: 's3cret',
      A: '1',
      IP: '10.244.0.5',
      APP: 'web',
      FILE: 'from a file',
      MEM: '64',
      CPU: '1',
    });
  });

  it.each([
    [{ configMapKeyRef: { name: 'absent', key: 'x' } }, 'configmap "absent" not found'],
    [{ secretKeyRef: { name: 'absent', key: 'x' } }, 'secret "absent" not found'],
    [{ configMapKeyRef: { name: 'settings', key: 'x' } }, "couldn't find key x in ConfigMap ns/settings"],
    [{ secretKeyRef: { name: 'keys', key: 'x' } }, "couldn't find key x in Secret ns/keys"],
    [
      { fileKeyRef: { volumeName: 'shared', path: 'made.env', key: 'B' } },
      'environment variable key "B" not found in file "made.env"',
    ],
    [
      { fileKeyRef: { volumeName: 'shared', path: 'none.env', key: 'A' } },
      'failed to open environment variable file "none.env" of volume "shared"',
    ],
  ])('refuses %j', async (valueFrom, message) => {
    await expect(environment({ env: [{ name: 'V', valueFrom }] })).rejects.toThrow(message);
  });

  it('adds service variables of the namespace and of kubernetes, which set ones win over', async () => {
    const services = [
      service('kubernetes', 'default', '10.96.0.1'),
      service('my-db', 'ns'),
      service('other', 'elsewhere'),
    ];
    const env = await environment({ env: [{ name: 'MY_DB_PORT', value: 'mine' }] }, { services });
    expect(env).toMatchObject({
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '80',
      MY_DB_SERVICE_HOST: '10.96.0.9',
      MY_DB_SERVICE_PORT_HTTP: '80',
      MY_DB_PORT: 'mine',
      MY_DB_PORT_80_TCP: 'tcp://10.96.0.9:80',
      MY_DB_PORT_80_TCP_ADDR: '10.96.0.9',
    });
    expect(Object.keys(env).some((name) => name.startsWith('OTHER'))).toBe(false);
  });
});
