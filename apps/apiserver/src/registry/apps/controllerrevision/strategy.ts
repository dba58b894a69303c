import { ControllerRevisions } from '@tinkernetes/api';
import { controllerOf, required } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { immutable } from '../../immutable';
import { notNegative } from '../../rules';

/** Source: k8s.io/kubernetes/pkg/registry/apps/controllerrevision. */
export const controllerRevisionStrategy = defineStrategy(ControllerRevisions, {
  validate: (revision) => [
    ...notNegative('revision', revision.revision),
    ...((revision.data ?? undefined) === undefined ? [required('data', 'data is mandatory')] : []),
  ],
  validateUpdate: (revision, old) => [
    ...notNegative('revision', revision.revision),
    ...immutable('data', revision.data, old.data),
  ],
  tableCells: (revision, now) => {
    const owner = controllerOf(revision);
    const controller = owner ? ownerText(owner) : '<none>';
    return [revision.metadata.name, controller, revision.revision, age(revision, now)];
  },
});

/** `daemonset.apps/name` */
function ownerText({ apiVersion, kind, name }: { apiVersion: string; kind: string; name: string }): string {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${apiVersion.slice(0, slash)}`;
  return `${kind.toLowerCase()}${group}/${name}`;
}
