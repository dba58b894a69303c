import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  KubeObject,
  WebhookConversion,
} from '@tinkernetes/api';

type ColumnV1beta1 = Omit<CustomResourceColumnDefinition, 'jsonPath'> & { JSONPath: string };
type Shared = Pick<CustomResourceDefinitionVersion, 'subresources' | 'selectableFields'> & {
  additionalPrinterColumns?: ColumnV1beta1[];
};
interface SpecV1beta1 extends Shared {
  group: string;
  names: CustomResourceDefinition['spec']['names'];
  scope: string;
  version?: string;
  validation?: CustomResourceDefinitionVersion['schema'];
  versions?: (Omit<CustomResourceDefinitionVersion, 'additionalPrinterColumns'> & Shared)[];
  conversion?: {
    strategy: string;
    webhookClientConfig?: WebhookConversion['clientConfig'];
    conversionReviewVersions?: string[];
  };
  preserveUnknownFields?: boolean;
}

/**
 * A CustomResourceDefinition as kube-apiserver keeps it, in v1beta1, in v1: what all versions have in common stands once
 * there, beside them. Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/{v1,v1beta1}/conversion.go.
 */
export function convertDefinition(object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  const { spec, ...rest } = object as KubeObject & { spec: SpecV1beta1 };
  const { group, names, scope, version, validation, versions, conversion, preserveUnknownFields } = spec;
  const listed = versions?.length
    ? versions
    : version
      ? [{ name: version, served: true, storage: true }]
      : [];
  return {
    ...rest,
    apiVersion,
    spec: {
      group,
      names,
      scope,
      versions: listed.map((own) => versionOf(own, { ...spec, schema: validation })),
      ...(conversion && { conversion: conversionOf(conversion) }),
      ...(preserveUnknownFields && { preserveUnknownFields }),
    },
  } as KubeObject;
}

function versionOf(
  own: CustomResourceDefinitionVersion | NonNullable<SpecV1beta1['versions']>[number],
  common: Shared & Pick<CustomResourceDefinitionVersion, 'schema'>,
): CustomResourceDefinitionVersion {
  const { name, served, storage, deprecated, deprecationWarning } = own;
  const schema = own.schema ?? common.schema;
  const subresources = own.subresources ?? common.subresources;
  const columns = (own as Shared).additionalPrinterColumns ?? common.additionalPrinterColumns;
  const selectableFields = own.selectableFields ?? common.selectableFields;
  return {
    name,
    served,
    storage,
    ...(deprecated && { deprecated }),
    ...(deprecationWarning !== undefined && { deprecationWarning }),
    ...(schema && { schema }),
    ...(subresources && { subresources }),
    ...(selectableFields && { selectableFields }),
    ...(columns && {
      additionalPrinterColumns: columns.map(({ JSONPath: jsonPath, ...column }) => ({ ...column, jsonPath })),
    }),
  };
}

function conversionOf({
  strategy,
  webhookClientConfig: clientConfig,
  conversionReviewVersions,
}: NonNullable<SpecV1beta1['conversion']>): CustomResourceDefinition['spec']['conversion'] {
  if (!clientConfig && !conversionReviewVersions) return { strategy };
  return {
    strategy,
    webhook: {
      ...(clientConfig && { clientConfig }),
      conversionReviewVersions: conversionReviewVersions ?? [],
    },
  };
}
