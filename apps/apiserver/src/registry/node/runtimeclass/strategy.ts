import { RuntimeClasses } from '@tinkernetes/api';
import { isDns1123Label, validateLabels } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { roundUpToMilli } from '../../pod-spec/container-defaults';
import { validateResources } from '../../pod-spec/resources';
import { validateTolerations } from '../../pod-spec/scheduling';
import { check } from '../../rules';

/** Source: k8s.io/kubernetes/pkg/registry/node/runtimeclass. */
export const runtimeClassStrategy = defineStrategy(RuntimeClasses, {
  default: (object) =>
    mapMember(object, 'overhead', (overhead) => mapMember(overhead, 'podFixed', roundUpToMilli)),
  validate: ({ handler, overhead, scheduling }) => [
    ...check('handler', handler, isDns1123Label),
    ...(overhead ? validateResources({ limits: overhead.podFixed }, 'overhead.podFixed') : []),
    ...validateLabels(scheduling?.nodeSelector, 'scheduling.nodeSelector'),
    ...validateTolerations(scheduling?.tolerations, 'scheduling.tolerations'),
  ],
  validateUpdate: (object, old) => immutable('handler', object.handler, old.handler),
  tableCells: (object, now) => [object.metadata.name, object.handler, age(object, now)],
});
