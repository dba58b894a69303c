import { schemaCodec } from '../codec/object-codec';
import { wrongType } from './read-object';

describe('a body of another kind', () => {
  const messageFor = (of: readonly [string, string], kind: string, apiVersion: string): string => {
    const codec = schemaCodec(...of);
    if (!codec) throw new Error(`no ${of.join(' ')}`);
    return wrongType(kind, apiVersion, { codec, target: `internal.${codec.kind}` }).message;
  };
  const definition = ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'] as const;
  const service = ['apiregistration.k8s.io/v1', 'APIService'] as const;
  const pod = ['v1', 'Pod'] as const;

  it.each([
    [pod, 'Deployment', 'apps/v1', 'converting (v1.Deployment) to (internal.Pod): unknown conversion'],
    [pod, 'Foo', 'x.io/v1', 'no kind "Foo" is registered for version "x.io/v1"'],
    [definition, 'Pod', 'v1', 'no kind "Pod" is registered for version "v1"'],
    [definition, 'Pod', 'apiextensions.k8s.io/v1', 'no kind "Pod" is registered'],
    [definition, 'CustomResourceDefinitionList', 'apiextensions.k8s.io/v1', 'unknown conversion'],
    [
      definition,
      'CustomResourceDefinition',
      'apiextensions.k8s.io/v1beta1',
      'the API version in the data (apiextensions.k8s.io/v1beta1) does not match the expected API version (apiextensions.k8s.io/v1)',
    ],
    [service, 'CustomResourceDefinition', 'apiextensions.k8s.io/v1', 'no kind "CustomResourceDefinition" is'],
    [service, 'APIService', 'apiregistration.k8s.io/v1beta1', 'does not match the expected API version'],
  ])('for %j: %s of %s is refused by what its server knows', (of, kind, apiVersion, message) => {
    expect(messageFor(of, kind, apiVersion)).toContain(message);
  });
});
