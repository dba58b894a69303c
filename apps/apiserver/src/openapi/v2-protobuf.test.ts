import { join } from 'node:path';
import { load, type Type } from 'protobufjs';
import { acceptedFormat } from './formats';
import { encodeOpenApiV2 } from './v2-protobuf';

const document = {
  swagger: '2.0',
  info: { title: 'Kubernetes', version: 'v1.36.0' },
  paths: {
    '/api/v1/pods/{name}': {
      get: {
        tags: ['core_v1'],
        operationId: 'readPod',
        consumes: ['*/*'],
        produces: ['application/json'],
        schemes: ['https'],
        parameters: [{ name: 'pretty', in: 'query', type: 'string', uniqueItems: true }],
        responses: {
          200: { description: 'OK', schema: { $ref: '#/definitions/Pod' } },
          401: { description: 'No' },
        },
        'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Pod' },
      },
      post: {
        parameters: [{ name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Pod' } }],
      },
      parameters: [{ name: 'name', in: 'path', required: true, type: 'string' }],
    },
  },
  definitions: {
    Pod: {
      description: 'Pod is a group of containers.',
      type: 'object',
      required: ['spec'],
      properties: {
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        free: { additionalProperties: true },
        ports: { type: 'array', items: { type: 'integer', format: 'int32', minimum: 1, default: 80 } },
      },
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'Pod', version: 'v1' }],
    },
  },
  securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
  security: [{ BearerToken: [] }],
};

describe('the OpenAPI v2 document in protobuf', () => {
  let type: Type;
  beforeAll(async () => {
    const root = await load(join(__dirname, '../../../../proto/openapi/v2/openapiv2.proto'));
    type = root.lookupType('openapi.v2.Document');
  });
  const decoded = () => type.toObject(type.decode(encodeOpenApiV2(document)), { longs: Number });

  it('holds types, their members and what Kubernetes adds to them', () => {
    expect(decoded().definitions).toEqual({
      additionalProperties: [
        {
          name: 'Pod',
          value: {
            description: 'Pod is a group of containers.',
            type: { value: ['object'] },
            required: ['spec'],
            properties: {
              additionalProperties: [
                {
                  name: 'labels',
                  value: {
                    type: { value: ['object'] },
                    additionalProperties: { schema: { type: { value: ['string'] } } },
                  },
                },
                { name: 'free', value: { additionalProperties: { boolean: true } } },
                {
                  name: 'ports',
                  value: {
                    type: { value: ['array'] },
                    items: {
                      schema: [
                        {
                          type: { value: ['integer'] },
                          format: 'int32',
                          minimum: 1,
                          default: { yaml: '80\n' },
                        },
                      ],
                    },
                  },
                },
              ],
            },
            vendorExtension: [
              {
                name: 'x-kubernetes-group-version-kind',
                value: { yaml: '[{"group":"","kind":"Pod","version":"v1"}]\n' },
              },
            ],
          },
        },
      ],
    });
  });

  it('holds paths with their parameters, by where those are', () => {
    const { path } = decoded().paths as { path: { name: string; value: Record<string, unknown> }[] };
    expect(path).toMatchObject([
      {
        name: '/api/v1/pods/{name}',
        value: {
          get: {
            operationId: 'readPod',
            parameters: [
              {
                parameter: {
                  nonBodyParameter: {
                    queryParameterSubSchema: { name: 'pretty', type: 'string', uniqueItems: true },
                  },
                },
              },
            ],
            responses: {
              responseCode: [
                {
                  name: '200',
                  value: {
                    response: { description: 'OK', schema: { schema: { _ref: '#/definitions/Pod' } } },
                  },
                },
                { name: '401' },
              ],
            },
          },
          post: {
            parameters: [
              { parameter: { bodyParameter: { required: true, schema: { _ref: '#/definitions/Pod' } } } },
            ],
          },
          parameters: [
            { parameter: { nonBodyParameter: { pathParameterSubSchema: { name: 'name', required: true } } } },
          ],
        },
      },
    ]);
  });

  it('says how clients authenticate', () => {
    expect(decoded()).toMatchObject({
      security: [{ additionalProperties: [{ name: 'BearerToken', value: {} }] }],
      securityDefinitions: {
        additionalProperties: [{ name: 'BearerToken', value: { apiKeySecurity: { name: 'authorization' } } }],
      },
    });
  });
});

describe('acceptedFormat', () => {
  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', 'protobuf'],
    ['application/com.github.proto-openapi.spec.v2.v1.0+protobuf, application/json;q=0.5', 'protobuf'],
    ['application/com.github.proto-openapi.spec.v2.v1.0+protobuf;q=0.1, application/json', 'json'],
    ['text/html', undefined],
  ])('%s: %s', (accept, format) => expect(acceptedFormat(accept, 'v2')).toBe(format));
});
