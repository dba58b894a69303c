import { UsageError } from '@tinkernetes/component-base';
import type { ComponentSpec } from './component-specs';

/** A flag that the user gives to components besides those that the cluster gives them. */
export interface ExtraFlag {
  /** An app (`kubelet`: each of them) or one instance (`kubelet-node-2`). */
  component: string;
  /** Without dashes, e.g. `max-pods`. */
  name: string;
  value: string;
}

const ofCluster = ['apiserver', 'controller-manager', 'scheduler', 'cluster-dns'];
const ofNodes = ['mock-runtime', 'kubelet', 'kube-proxy'];

/** `COMPONENT.FLAG=VALUE` each, as minikube has it. A mistyped component is an error: it would have no effect else. */
export function parseExtraConfig(texts: readonly string[], nodes: number): ExtraFlag[] {
  const instances = ofNodes.flatMap((app) => Array.from({ length: nodes }, (_, i) => `${app}-node-${i + 1}`));
  const known = new Set([...ofCluster, ...ofNodes, ...instances]);
  return texts.map((text) => {
    const match = /^([a-z0-9-]+)\.([A-Za-z0-9-]+)=(.*)$/s.exec(text);
    const [, component, name, value] = match ?? [];
    if (component === undefined || name === undefined || value === undefined)
      throw new UsageError(`invalid value "${text}" for --extra-config: must be COMPONENT.FLAG=VALUE`);
    if (!known.has(component))
      throw new UsageError(
        `--extra-config ${text}: no component ${component}. Components: ${[...ofCluster, ...ofNodes].join(', ')}, or one of a node, e.g. kubelet-node-1`,
      );
    return { component, name, value };
  });
}

/** The spec with the flags that are meant for it, in place of its own of the same names; an instance's before its app's. */
export function withExtraFlags(spec: ComponentSpec, flags: readonly ExtraFlag[]): ComponentSpec {
  const ofInstance = flags.filter(({ component }) => component === spec.instance);
  const ofApp =
    spec.app === spec.instance
      ? []
      : flags.filter(
          ({ component, name }) => component === spec.app && !ofInstance.some((own) => own.name === name),
        );
  const added = [...ofApp, ...ofInstance];
  if (added.length === 0) return spec;
  const replaced = new Set(added.map(({ name }) => `--${name}`));
  return {
    ...spec,
    argv: [
      ...spec.argv.filter((arg) => !replaced.has(arg.split('=', 1)[0] ?? arg)),
      ...added.map(({ name, value }) => `--${name}=${value}`),
    ],
  };
}
