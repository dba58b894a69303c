import type { KubeObject } from '@tinkernetes/api';
import { convertDefinition } from './convert-definition';

const names = { plural: 'widgets', kind: 'Widget' };
const schema = { openAPIV3Schema: { type: 'object' } };
const other = { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } };
const stored = (spec: object) =>
  ({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, ...spec },
  }) as KubeObject;
const specOf = (object: KubeObject) =>
  (convertDefinition(object, 'apiextensions.k8s.io/v1') as KubeObject & { spec: object }).spec;
const version = (name: string) => ({ name, served: true, storage: name === 'v1' });

describe('convertDefinition', () => {
  it('gives each version what stands beside them all', () => {
    const spec = specOf(
      stored({
        version: 'v1',
        validation: schema,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
        selectableFields: [{ jsonPath: '.spec.color' }],
        versions: [version('v1'), version('v2')],
        conversion: { strategy: 'None' },
        preserveUnknownFields: false,
      }),
    );
    const common = {
      schema,
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      selectableFields: [{ jsonPath: '.spec.color' }],
    };
    expect(spec).toEqual({
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [
        { ...version('v1'), ...common },
        { ...version('v2'), ...common },
      ],
      conversion: { strategy: 'None' },
    });
  });

  it('keeps what each version has of its own, and where its webhook is', () => {
    const clientConfig = { url: 'https://example.com/convert' };
    const spec = specOf(
      stored({
        versions: [
          { ...version('v1'), schema },
          { ...version('v2'), schema: other, deprecated: true, deprecationWarning: 'use v1' },
        ],
        conversion: {
          strategy: 'Webhook',
          webhookClientConfig: clientConfig,
          conversionReviewVersions: ['v1'],
        },
        preserveUnknownFields: true,
      }),
    );
    expect(spec).toMatchObject({
      versions: [
        { ...version('v1'), schema },
        { ...version('v2'), schema: other, deprecated: true, deprecationWarning: 'use v1' },
      ],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
      preserveUnknownFields: true,
    });
  });

  it('knows the version of a definition that lists none', () => {
    expect(specOf(stored({ version: 'v1' }))).toMatchObject({ versions: [version('v1')] });
  });

  it('leaves a definition in v1 alone', () => {
    const object = { ...stored({}), apiVersion: 'apiextensions.k8s.io/v1' };
    expect(convertDefinition(object, 'apiextensions.k8s.io/v1')).toBe(object);
  });
});
