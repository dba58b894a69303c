import { PriorityLevelConfigurations } from '@tinkernetes/api';
import type { PriorityLevelConfiguration } from '@tinkernetes/api';
import { forbidden, invalid, required } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import { notNegative, requireOneOf } from '../../rules';
import type { Errors } from '../../rules';

const defaultShares = 30;
const maxPercent = 100;

function validate({ spec }: PriorityLevelConfiguration): Errors {
  const errors = requireOneOf('spec.type', spec?.type, ['Exempt', 'Limited']);
  const { limited, exempt, type } = spec ?? {};
  if (type === 'Exempt') {
    if (limited) errors.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
    return errors;
  }
  if (type !== 'Limited') return errors;
  if (exempt) errors.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
  if (!limited) return [...errors, required('spec.limited', 'must not be empty when type is Limited')];
  errors.push(...notNegative('spec.limited.nominalConcurrencyShares', limited.nominalConcurrencyShares));
  const { lendablePercent = 0, limitResponse } = limited;
  if (lendablePercent < 0 || lendablePercent > maxPercent) {
    errors.push(
      invalid('spec.limited.lendablePercent', lendablePercent, 'must be between 0 and 100, inclusive'),
    );
  }
  const path = 'spec.limited.limitResponse';
  errors.push(...requireOneOf(`${path}.type`, limitResponse?.type, ['Queue', 'Reject']));
  if (limitResponse?.type === 'Queue' && !limitResponse.queuing) {
    errors.push(required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited'));
  }
  if (limitResponse?.type === 'Reject' && limitResponse.queuing) {
    errors.push(forbidden(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited'));
  }
  return errors;
}

/** Source: k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration. */
export const priorityLevelConfigurationStrategy = defineStrategy(PriorityLevelConfigurations, {
  default: (object) =>
    mapMember(object, 'spec', (spec) => {
      const limited = mapMember(spec, 'limited', (given) => {
        const withQueues = mapMember(given, 'limitResponse', (response) =>
          mapMember(response, 'queuing', (queuing) =>
            fill(queuing, { queues: 64, handSize: 8, queueLengthLimit: 50 }),
          ),
        );
        return fill(withQueues, { nominalConcurrencyShares: defaultShares, lendablePercent: 0 });
      });
      return spec.type === 'Exempt'
        ? { ...limited, exempt: fill(spec.exempt ?? {}, { nominalConcurrencyShares: 0, lendablePercent: 0 }) }
        : limited;
    }),
  validate,
  tableCells: (object, now) => {
    const { spec, metadata } = object;
    const queuing = spec?.limited?.limitResponse?.queuing;
    const shares = spec?.limited?.nominalConcurrencyShares ?? spec?.exempt?.nominalConcurrencyShares;
    return [
      metadata.name,
      spec?.type ?? '',
      shares ?? '<none>',
      queuing?.queues ?? '<none>',
      queuing?.handSize ?? '<none>',
      queuing?.queueLengthLimit ?? '<none>',
      age(object, now),
    ];
  },
});
