import { join } from 'node:path';
import { load, type Type } from 'protobufjs';
import { encodeOpenApiV3 } from './v3-protobuf';

const pod = { $ref: '#/components/schemas/Pod' };
const document = {
  openapi: '3.0.0',
  info: { title: 'Kubernetes', version: 'v1.36.0' },
  paths: {
    '/api/v1/pods/{name}': {
      put: {
        tags: ['core_v1'],
        operationId: 'replacePod',
        parameters: [{ name: 'pretty', in: 'query', schema: { type: 'string', uniqueItems: true } }],
        requestBody: { content: { '*/*': { schema: pod } }, required: true },
        responses: { 200: { description: 'OK', content: { 'application/json': { schema: pod } } } },
        'x-kubernetes-action': 'put',
      },
      parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
    },
  },
  components: {
    schemas: {
      Pod: {
        type: 'object',
        required: ['spec'],
        properties: {
          labels: { type: 'object', additionalProperties: { type: 'string', default: '' } },
          spec: { allOf: [pod], default: {}, description: 'What it is to be.' },
          ports: { type: 'array', items: { type: 'integer', format: 'int32', default: 80 } },
          free: { additionalProperties: true },
        },
        'x-kubernetes-group-version-kind': [{ group: '', kind: 'Pod', version: 'v1' }],
      },
    },
  },
};

describe('an OpenAPI v3 document in protobuf', () => {
  let type: Type;
  beforeAll(async () => {
    const root = await load(join(__dirname, '../../../../proto/openapi/v3/openapiv3.proto'));
    type = root.lookupType('openapi.v3.Document');
  });
  const decoded = () => type.toObject(type.decode(encodeOpenApiV3(document)), { longs: Number });

  it('holds schemas, references, defaults and what Kubernetes adds to them', () => {
    const ref = { reference: { _ref: '#/components/schemas/Pod' } };
    const text = (schema: object) => ({ schema });
    expect(decoded().components).toEqual({
      schemas: {
        additionalProperties: [
          {
            name: 'Pod',
            value: text({
              type: 'object',
              required: ['spec'],
              properties: {
                additionalProperties: [
                  {
                    name: 'labels',
                    value: text({
                      type: 'object',
                      additionalProperties: {
                        schemaOrReference: text({ type: 'string', default: { string: '' } }),
                      },
                    }),
                  },
                  {
                    name: 'spec',
                    value: text({ allOf: [ref], default: {}, description: 'What it is to be.' }),
                  },
                  {
                    name: 'ports',
                    value: text({
                      type: 'array',
                      items: {
                        schemaOrReference: [
                          text({ type: 'integer', format: 'int32', default: { number: 80 } }),
                        ],
                      },
                    }),
                  },
                  { name: 'free', value: text({ additionalProperties: { boolean: true } }) },
                ],
              },
              specificationExtension: [
                {
                  name: 'x-kubernetes-group-version-kind',
                  value: { yaml: '[{"group":"","kind":"Pod","version":"v1"}]\n' },
                },
              ],
            }),
          },
        ],
      },
    });
  });

  it('holds operations with their parameters, bodies and answers', () => {
    const content = (name: string) => ({
      additionalProperties: [
        { name, value: { schema: { reference: { _ref: '#/components/schemas/Pod' } } } },
      ],
    });
    expect(decoded().paths).toMatchObject({
      path: [
        {
          name: '/api/v1/pods/{name}',
          value: {
            put: {
              tags: ['core_v1'],
              operationId: 'replacePod',
              parameters: [
                {
                  parameter: {
                    name: 'pretty',
                    in: 'query',
                    schema: { schema: { type: 'string', uniqueItems: true } },
                  },
                },
              ],
              requestBody: { requestBody: { content: content('*/*'), required: true } },
              responses: {
                responseOrReference: [
                  {
                    name: '200',
                    value: { response: { description: 'OK', content: content('application/json') } },
                  },
                ],
              },
              specificationExtension: [{ name: 'x-kubernetes-action', value: { yaml: '"put"\n' } }],
            },
            parameters: [{ parameter: { name: 'name', in: 'path', required: true } }],
          },
        },
      ],
    });
  });
});
