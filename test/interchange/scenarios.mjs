// What both schedulers are asked. Each step is an object to create; afterwards all Pods and what is said of them is compared.
const pod = (name, spec = {}, metadata = {}) => ({
  path: '/api/v1/namespaces/default/pods',
  body: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10', ...containerOf(spec) }],
      ...withoutContainer(spec),
    },
  },
});
const containerOf = ({ cpu, ports }) => ({
  ...(cpu ? { resources: { requests: { cpu } } } : {}),
  ...(ports ? { ports } : {}),
});
const withoutContainer = ({ cpu, ports, ...rest }) => rest;
const selecting = (app) => ({ labelSelector: { matchLabels: { app } } });
const hostname = 'kubernetes.io/hostname';
const required = (term) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term] });
const onDisk = (claimName) => ({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] });

/** Applied in this order, each group when the Pods before have their verdict. `nodes`: their names. */
export const groups = (nodes) => [
  [
    {
      path: '/apis/storage.k8s.io/v1/storageclasses',
      body: {
        metadata: { name: 'nowhere' },
        provisioner: 'kubernetes.io/no-provisioner',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
    },
    {
      path: '/api/v1/namespaces/default/persistentvolumeclaims',
      body: {
        metadata: { name: 'unbindable' },
        spec: {
          storageClassName: 'nowhere',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      },
    },
    {
      path: '/apis/scheduling.k8s.io/v1/priorityclasses',
      body: { metadata: { name: 'high' }, value: 1000 },
    },
    {
      path: '/apis/scheduling.k8s.io/v1/priorityclasses',
      body: { metadata: { name: 'patient' }, value: 2000, preemptionPolicy: 'Never' },
    },
    {
      path: '/apis/resource.k8s.io/v1/deviceclasses',
      body: {
        metadata: { name: 'gpu' },
        spec: { selectors: [{ cel: { expression: 'device.driver == "gpu.example.com"' } }] },
      },
    },
    {
      path: '/apis/resource.k8s.io/v1/resourceslices',
      body: {
        metadata: { name: 'gpus' },
        spec: {
          driver: 'gpu.example.com',
          nodeName: nodes[1],
          pool: { name: nodes[1], generation: 1, resourceSliceCount: 1 },
          devices: [
            { name: 'gpu-0', attributes: { memory: { int: 40 } } },
            { name: 'gpu-1', attributes: { memory: { int: 80 } } },
          ],
        },
      },
    },
    {
      path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates',
      body: {
        metadata: { name: 'big-gpu' },
        spec: {
          spec: {
            devices: {
              requests: [
                {
                  name: 'gpu',
                  exactly: {
                    deviceClassName: 'gpu',
                    selectors: [{ cel: { expression: 'device.attributes["gpu.example.com"].memory >= 80' } }],
                  },
                },
              ],
            },
          },
        },
      },
    },
  ],
  [
    pod('plain'),
    pod('selected', { nodeSelector: { [hostname]: nodes[2] } }),
    pod('too-big', { cpu: '1000' }),
    pod('no-such-label', { nodeSelector: { no: 'such-label' } }),
    pod('no-such-claim', onDisk('missing')),
    pod('unbindable', onDisk('unbindable')),
    pod('gated', { schedulingGates: [{ name: 'example.com/wait' }] }),
    pod('foreign', { schedulerName: 'somebody-else' }),
    pod('lonely', { affinity: { podAffinity: required({ topologyKey: hostname, ...selecting('nobody') }) } }),
    pod('no-such-topology', {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'no/such-key', whenUnsatisfiable: 'DoNotSchedule', ...selecting('x') },
      ],
    }),
    pod('with-gpu', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'big-gpu' }] }),
  ],
  // One more than there are nodes.
  [1, 2, 3, 4].map((i) =>
    pod(
      `apart-${i}`,
      { affinity: { podAntiAffinity: required({ topologyKey: hostname, ...selecting('apart') }) } },
      { labels: { app: 'apart' } },
    ),
  ),
  [1, 2, 3, 4].map((i) => pod(`port-${i}`, { ports: [{ containerPort: 80, hostPort: 8099 }] })),
  [1, 2, 3, 4, 5, 6, 7].map((i) =>
    pod(
      `spread-${i}`,
      {
        // One on each node, and then only on the first: the others' domains can't be filled.
        nodeSelector: i > 3 ? { [hostname]: nodes[0] } : undefined,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: hostname,
            whenUnsatisfiable: 'DoNotSchedule',
            nodeAffinityPolicy: 'Ignore',
            ...selecting('spread'),
          },
        ],
      },
      { labels: { app: 'spread' } },
    ),
  ),
  [
    pod('too-few-domains', {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          minDomains: 9,
          topologyKey: hostname,
          whenUnsatisfiable: 'DoNotSchedule',
          ...selecting('z'),
        },
      ],
    }),
    pod(
      'too-few-domains-2',
      {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            minDomains: 9,
            topologyKey: hostname,
            whenUnsatisfiable: 'DoNotSchedule',
            ...selecting('spread'),
          },
        ],
      },
      { labels: { app: 'spread' } },
    ),
    pod('extended', {
      containers: [
        {
          name: 'main',
          image: 'registry.k8s.io/pause:3.10',
          resources: { limits: { 'example.com/foo': '1' } },
        },
      ],
    }),
    pod('large-init', {
      initContainers: [
        { name: 'init', image: 'registry.k8s.io/pause:3.10', resources: { requests: { cpu: '999' } } },
      ],
    }),
    pod('conflicting-names', {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['no-such-node'] }] },
            ],
          },
        },
      },
    }),
    pod('never', { cpu: '1000', priorityClassName: 'patient' }),
    pod('missing-resource-claim', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'missing' }] }),
    pod('far-from-apart', {
      affinity: { podAntiAffinity: required({ topologyKey: 'no/such-key', ...selecting('apart') }) },
    }),
    // All nodes have a Pod that is apart from `app: apart`.
    pod('unwelcome', {}, { labels: { app: 'apart' } }),
  ],
  [
    {
      method: 'PATCH',
      path: `/api/v1/nodes/${nodes[1]}`,
      body: { spec: { unschedulable: true } },
    },
    {
      method: 'PATCH',
      path: `/api/v1/nodes/${nodes[2]}`,
      body: { spec: { taints: [{ key: 'example.com/special', effect: 'NoSchedule' }] } },
    },
  ],
  [
    pod('into-taints', { nodeSelector: { 'kubernetes.io/os': 'linux' }, cpu: '999' }),
    pod('tolerating', {
      nodeSelector: { [hostname]: nodes[2] },
      tolerations: [{ key: 'example.com/special', operator: 'Exists' }],
    }),
    pod('to-the-cordoned', { nodeSelector: { [hostname]: nodes[1] } }),
  ],
  [1, 2].map((i) => ({
    method: 'PATCH',
    path: `/api/v1/nodes/${nodes[i]}`,
    body: { spec: { unschedulable: null, taints: null } },
  })),
  [pod('second-gpu', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'big-gpu' }] })],
  [pod('victim', { cpu: '60%', nodeSelector: { [hostname]: nodes[0] } })],
  [pod('important', { cpu: '60%', nodeSelector: { [hostname]: nodes[0] }, priorityClassName: 'high' })],
];
