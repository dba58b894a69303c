// One object of each kind that is much used, as clients send them.
const template = (app) => ({
  metadata: { labels: { app } },
  spec: {
    containers: [
      {
        name: 'web',
        image: 'nginx:1.27',
        ports: [{ containerPort: 80, name: 'http' }],
        env: [
          { name: 'MODE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'mode', optional: true } } },
        ],
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '0.5Gi' } },
        readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [
      { name: 'data', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'all', projected: { sources: [{ configMap: { name: 'settings' } }, { downwardAPI: {} }] } },
    ],
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }],
  },
});
const selector = (app) => ({ matchLabels: { app } });
const job = { template: { ...template('job'), spec: { ...template('job').spec, restartPolicy: 'Never' } } };

const named = (name, rest) => ({ metadata: { name }, ...rest });
const core = '/api/v1';
const inNamespace = (prefix, resource) => `${prefix}/namespaces/shared/${resource}`;

/** `[path, body]`, in the order in which they can be created. */
export const sharedObjects = [
  [`${core}/namespaces`, named('shared', { metadata: { name: 'shared', labels: { team: 'a' } } })],
  [inNamespace(core, 'serviceaccounts'), named('default')],
  [
    inNamespace(core, 'configmaps'),
    named('settings', { data: { mode: 'ü\n"x"' }, binaryData: { raw: 'AAEC/w==' } }),
  ],
  [inNamespace(core, 'secrets'), named('password', { stringData: { password: 'secret' } })],
  [
    inNamespace(core, 'pods'),
    { ...template('pod'), metadata: { name: 'pod', annotations: { note: '<&>' } } },
  ],
  [
    inNamespace(core, 'services'),
    named('web', { spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] } }),
  ],
  [
    inNamespace(core, 'services'),
    named('headless', { spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 5432 }] } }),
  ],
  [
    inNamespace(core, 'persistentvolumeclaims'),
    named('claim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }),
  ],
  [
    `${core}/persistentvolumes`,
    named('volume', {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/tmp/volume' },
      },
    }),
  ],
  [`${core}/nodes`, named('node-1', { status: { capacity: { cpu: '8', memory: '16Gi' } } })],
  [
    inNamespace(core, 'limitranges'),
    named('limits', { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } }),
  ],
  [
    inNamespace(core, 'resourcequotas'),
    named('quota', { spec: { hard: { pods: '100', 'requests.cpu': '50' } } }),
  ],
  [
    inNamespace(core, 'endpoints'),
    named('manual', { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }),
  ],
  [
    inNamespace(core, 'events'),
    named('happened', {
      involvedObject: { kind: 'Pod', name: 'pod', namespace: 'shared' },
      reason: 'Tried',
      message: 'it',
      type: 'Normal',
    }),
  ],
  [
    inNamespace('/apis/apps/v1', 'deployments'),
    named('web', { spec: { replicas: 2, selector: selector('web'), template: template('web') } }),
  ],
  [
    inNamespace('/apis/apps/v1', 'statefulsets'),
    named('db', {
      spec: {
        serviceName: 'headless',
        selector: selector('db'),
        template: template('db'),
        volumeClaimTemplates: [
          named('data', {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          }),
        ],
      },
    }),
  ],
  [
    inNamespace('/apis/apps/v1', 'daemonsets'),
    named('agent', { spec: { selector: selector('agent'), template: template('agent') } }),
  ],
  [inNamespace('/apis/batch/v1', 'jobs'), named('job', { spec: job })],
  [
    inNamespace('/apis/batch/v1', 'cronjobs'),
    named('nightly', { spec: { schedule: '0 3 * * *', jobTemplate: { spec: job } } }),
  ],
  [
    inNamespace('/apis/autoscaling/v2', 'horizontalpodautoscalers'),
    named('web', {
      spec: {
        maxReplicas: 4,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
          },
        ],
      },
    }),
  ],
  [
    inNamespace('/apis/policy/v1', 'poddisruptionbudgets'),
    named('web', { spec: { minAvailable: '50%', selector: selector('web') } }),
  ],
  [
    inNamespace('/apis/networking.k8s.io/v1', 'ingresses'),
    named('web', {
      spec: {
        rules: [
          {
            host: 'a.test',
            http: {
              paths: [
                {
                  path: '/',
                  pathType: 'Prefix',
                  backend: { service: { name: 'web', port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    }),
  ],
  [
    inNamespace('/apis/networking.k8s.io/v1', 'networkpolicies'),
    named('deny', { spec: { podSelector: {}, policyTypes: ['Ingress'] } }),
  ],
  [
    inNamespace('/apis/discovery.k8s.io/v1', 'endpointslices'),
    named('slice', {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      ports: [{ port: 80 }],
    }),
  ],
  [
    inNamespace('/apis/coordination.k8s.io/v1', 'leases'),
    named('lease', {
      spec: { holderIdentity: 'a', renewTime: '2026-01-02T03:04:05.678901Z', leaseDurationSeconds: 15 },
    }),
  ],
  [
    inNamespace('/apis/rbac.authorization.k8s.io/v1', 'roles'),
    named('reader', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  ],
  [
    inNamespace('/apis/rbac.authorization.k8s.io/v1', 'rolebindings'),
    named('readers', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'shared' }],
    }),
  ],
  [
    '/apis/storage.k8s.io/v1/storageclasses',
    named('fast', { provisioner: 'example.com/disk', parameters: { type: 'ssd' } }),
  ],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', named('urgent', { value: 1000 })],
  ['/apis/node.k8s.io/v1/runtimeclasses', named('sandboxed', { handler: 'sandboxed' })],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    named('none.example.com', {
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['example.com'],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['nothing'],
            },
          ],
        },
        validations: [{ expression: 'true' }],
      },
    }),
  ],
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    named('widgets.example.com', {
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: { size: { type: 'integer', default: 3 }, color: { type: 'string' } },
                  },
                },
              },
            },
          },
        ],
      },
    }),
  ],
];

export const widgets = inNamespace('/apis/example.com/v1', 'widgets');
export const widget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  ...named('widget', { spec: { color: 'red' } }),
};
