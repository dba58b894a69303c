import fc from 'fast-check';
import { StatusError } from '@tinkernetes/apimachinery';
import { Writer } from 'protobufjs/minimal';
import { decodeMessage } from './decode';
import { decodeProtobuf, encodeProtobuf } from './index';

const roundTrip = (object: { apiVersion: string; kind: string }): unknown => {
  const bytes = encodeProtobuf(object);
  if (!bytes) throw new Error('no message');
  return decodeProtobuf(bytes);
};

it('keeps a Pod with embedded structs, quantities, times and maps', () => {
  const pod = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: 'web',
      labels: { app: 'web' },
      creationTimestamp: '2026-01-02T03:04:05Z',
      managedFields: [
        { manager: 'm', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } },
      ],
    },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'nginx',
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          resources: { limits: { cpu: '100m', memory: '1Gi' } },
          livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 10 },
          env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } }],
        },
      ],
      volumes: [
        { name: 'v', emptyDir: { medium: 'Memory' } },
        { name: 'c', configMap: { name: 'cm', defaultMode: 420 } },
      ],
      terminationGracePeriodSeconds: 0,
    },
  };
  expect(roundTrip(pod)).toEqual(pod);
});

it.each([
  {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
      template: {},
    },
  },
  { kind: 'Secret', apiVersion: 'v1', data: { password: 'c2VjcmV0' }, type: 'Opaque' },
  {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    spec: { holderIdentity: 'x', renewTime: '2026-01-02T03:04:05.123456Z' },
  },
  {
    kind: 'SubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    spec: { user: 'u', extra: { scopes: ['a', 'b'] } },
  },
  { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, propagationPolicy: 'Background' },
  { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'NotFound', code: 404 },
  {
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: 'admissionregistration.k8s.io/v1',
    webhooks: [
      {
        name: 'w',
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      },
    ],
  },
  {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      group: 'depot.test',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                a: { type: 'array', items: { type: 'string' }, default: ['x'] },
                b: {
                  'x-kubernetes-preserve-unknown-fields': true,
                  additionalProperties: { type: 'integer' },
                },
              },
            },
          },
        },
      ],
    },
  },
])('keeps a $kind', (object) => {
  expect(roundTrip(object)).toEqual(object);
});

it('leaves out what JSON would leave out: zero values that are no pointers', () => {
  const bytes = encodeProtobuf({
    kind: 'Service',
    apiVersion: 'v1',
    spec: { clusterIP: '', ports: [{ name: '', port: 80, nodePort: 0 }] },
  } as { kind: string; apiVersion: string });
  expect(decodeProtobuf(bytes ?? Buffer.alloc(0))).toEqual({
    kind: 'Service',
    apiVersion: 'v1',
    spec: { ports: [{ port: 80 }] },
  });
});

it('reads entries and elements that say nothing as null, which JSON decoding fills in', () => {
  const field = (number: number, bytes: Uint8Array) =>
    new Writer()
      .uint32((number << 3) | 2)
      .bytes(bytes)
      .finish();
  const key = new Writer().uint32(10).string('a').finish();
  const schema = Buffer.concat([
    // properties["a"] without a schema, an empty JSONSchemaPropsOrArray, an empty JSONSchemaPropsOrBool, an enum of nothing.
    field(29, key),
    field(24, Buffer.alloc(0)),
    field(30, Buffer.alloc(0)),
    field(20, Buffer.alloc(0)),
  ]);
  const name = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
  expect(decodeMessage(name, schema)).toEqual({
    properties: { a: null },
    additionalProperties: false,
    enum: [null],
  });
});

it('replaces what is no UTF-8 in texts', () => {
  const text = new Writer()
    .uint32(10)
    .bytes(Buffer.from([0x61, 0xed, 0xa0, 0x80]))
    .finish();
  expect(decodeMessage('k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta', text)).toEqual({
    name: expect.stringMatching(/^a\ufffd+$/) as string,
  });
});

it('has no message for custom kinds', () => {
  expect(encodeProtobuf({ apiVersion: 'depot.test/v1', kind: 'Kettle' })).toBeUndefined();
});

it('answers any bytes with a value or a 400, and pollutes no prototype', () => {
  const pod =
    encodeProtobuf({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      data: JSON.parse('{"__proto__": "x", "a": "b"}') as object,
    } as { kind: string; apiVersion: string }) ?? Buffer.alloc(0);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(pod.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 8 }),
      fc.nat(pod.length),
      (edits, length) => {
        const bytes = Buffer.from(pod.subarray(0, length));
        for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
        try {
          decodeProtobuf(bytes);
        } catch (error) {
          if (!(error instanceof StatusError) || error.code !== 400) throw error;
        }
        expect(({} as Record<string, unknown>).a).toBeUndefined();
      },
    ),
  );
});
