import {
  APIServices,
  CustomResourceDefinitions,
  type APIService,
  type CustomResourceDefinition,
} from '@tinkernetes/api';
import { deepEqual, isNotFound } from '@tinkernetes/apimachinery';
import { createUnlessThere } from '../bootstrap/bootstrap-objects';
import type { ServerDependencies } from '../contracts';
import { KeyedWork } from '../server/keyed-work';

const automanaged = 'kube-aggregator.kubernetes.io/automanaged';

/** Custom groups come behind the built-in ones, ordered by their versions' names. */
const priorities = { groupPriorityMinimum: 1000, versionPriority: 100 };

/**
 * Keeps a Local APIService for each group and version that a CustomResourceDefinition serves. Source:
 * k8s.io/kubernetes/pkg/controlplane/controller/crdregistration and kube-aggregator/pkg/controllers/autoregister.
 */
export function startAutomaticServices({ stores, context }: ServerDependencies): () => Promise<void> {
  const definitions = stores.for(CustomResourceDefinitions);
  const services = stores.for(APIServices);

  async function reconcile(name: string): Promise<void> {
    const [version = '', group = ''] = splitName(name);
    const isWanted = definitions
      .list()
      .some(({ spec }) => spec.group === group && spec.versions.some((v) => v.name === version && v.served));
    const present = services.peek(name);
    if (present && present.metadata.labels?.[automanaged] !== 'true') return;
    const spec = { group, version, ...priorities };
    if (isWanted && !present) await createUnlessThere(services, serviceOf(name, spec));
    else if (!isWanted && present) await services.delete(name);
    else if (present && !deepEqual(present.spec, spec)) {
      await services.modify(name, undefined, (current) => ({ ...current, spec }));
    }
  }

  const work = new KeyedWork(context.clock, (name) =>
    reconcile(name).catch((error: unknown) => {
      if (isNotFound(error)) return;
      context.logger.warn({ err: error, name }, 'APIService not kept');
      throw error;
    }),
  );
  const addAll = (definition: CustomResourceDefinition | undefined) => {
    for (const name of namesOf(definition)) work.add(name);
  };
  const unsubscribe = [
    definitions.onChange(({ object, old }) => {
      addAll(old);
      addAll(object);
    }),
    services.onChange(({ type, object }) => {
      if (type !== 'ADDED' && object.metadata.labels?.[automanaged] === 'true')
        work.add(object.metadata.name);
    }),
  ];
  definitions.list().forEach(addAll);
  return async () => {
    for (const stop of unsubscribe) stop();
    await work.stop();
  };
}

const namesOf = (definition: CustomResourceDefinition | undefined): string[] =>
  (definition?.spec.versions ?? []).map(({ name }) => `${name}.${definition?.spec.group ?? ''}`);

function splitName(name: string): [version: string, group: string] {
  const dot = name.indexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

const serviceOf = (name: string, spec: APIService['spec']): APIService & { metadata: { name: string } } => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name, labels: { [automanaged]: 'true' } },
  spec,
});
