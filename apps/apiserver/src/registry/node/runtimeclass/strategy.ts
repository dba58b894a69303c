import { RuntimeClasses } from '@tinkernetes/api';
import type { Toleration } from '@tinkernetes/api';
import { duplicate, isDns1123Label, semanticEqual, validateLabels } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { roundUpToMilli } from '../../pod-spec/resource-defaults';
import { validateResources } from '../../pod-spec/resources';
import { validateTolerations } from '../../pod-spec/scheduling';
import { eachOf, requireName } from '../../rules';

/** As Go's encoder shows it: every field, under its Go name. */
const goToleration = (toleration: Toleration) => ({
  Key: toleration.key ?? '',
  Operator: String(toleration.operator ?? ''),
  Value: toleration.value ?? '',
  Effect: String(toleration.effect ?? ''),
  TolerationSeconds: toleration.tolerationSeconds ?? null,
});

/** Source: k8s.io/kubernetes/pkg/registry/node/runtimeclass. */
export const runtimeClassStrategy = defineStrategy(RuntimeClasses, {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  default: (object) =>
    mapMember(object, 'overhead', (overhead) => mapMember(overhead, 'podFixed', roundUpToMilli)),
  validate: ({ handler, overhead, scheduling }) => [
    ...requireName('handler', handler, isDns1123Label),
    ...(overhead ? validateResources({ limits: overhead.podFixed }, 'overhead') : []),
    ...validateLabels(scheduling?.nodeSelector, 'scheduling.nodeSelector'),
    ...validateTolerations(scheduling?.tolerations, 'scheduling.tolerations'),
    ...eachOf('scheduling.tolerations', scheduling?.tolerations, (toleration, at, i) => {
      const earlier = scheduling?.tolerations?.slice(0, i) ?? [];
      return earlier.some((other) => semanticEqual(other, toleration))
        ? [duplicate(at, goToleration(toleration))]
        : [];
    }),
  ],
  validateUpdate: (object, old) => immutable('handler', object.handler, old.handler),
  tableCells: (object, now) => [object.metadata.name, object.handler, age(object, now)],
});
