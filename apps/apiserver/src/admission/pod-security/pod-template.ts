import type { KubeObject, PodTemplateSpec } from '@tinkernetes/api';

interface Templated {
  template?: PodTemplateSpec;
  spec?: { template?: PodTemplateSpec; jobTemplate?: { spec?: { template?: PodTemplateSpec } } };
}

const inSpec = ({ spec }: Templated) => spec?.template;

const paths: Readonly<Record<string, (object: Templated) => PodTemplateSpec | undefined>> = {
  '/podtemplates': ({ template }) => template,
  '/replicationcontrollers': inSpec,
  'apps/daemonsets': inSpec,
  'apps/deployments': inSpec,
  'apps/replicasets': inSpec,
  'apps/statefulsets': inSpec,
  'batch/jobs': inSpec,
  'batch/cronjobs': ({ spec }) => spec?.jobTemplate?.spec?.template,
};

/** The Pod template of a kind that makes Pods. */
export const podTemplateOf = (
  group: string,
  resource: string,
  object: KubeObject,
): PodTemplateSpec | undefined => paths[`${group}/${resource}`]?.(object as Templated);
