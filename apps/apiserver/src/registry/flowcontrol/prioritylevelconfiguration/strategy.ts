import { PriorityLevelConfigurations } from '@tinkernetes/api';
import type { PriorityLevelConfiguration } from '@tinkernetes/api';
import { child, forbidden, invalid, required } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { validateConditions } from '../conditions';
import { fill, mapMember } from '../../fill';
import { requireOneOf } from '../../rules';
import type { Errors } from '../../rules';

const defaultShares = 30;
const maxPercent = 100;

const notNegativeInteger = 'must be a non-negative integer';
const percentRange = 'must be between 0 and 100, inclusive';
const mostQueues = 10_000_000;
const mostEntropy = 60;

/** Source: flowcontrol/validation.ValidatePriorityLevelConfiguration. */
function validate({ metadata, spec }: PriorityLevelConfiguration): Errors {
  const type: string = spec?.type ?? '';
  const { limited, exempt } = spec ?? {};
  const errors: Errors = [];
  if ((metadata.name === 'exempt') !== (type === 'Exempt'))
    errors.push(invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  switch (type) {
    case 'Exempt':
      if (limited) errors.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
      return [
        ...errors,
        ...(exempt
          ? [...validateNominalShares(exempt, 'spec.exempt'), ...validateLendable(exempt, 'spec.exempt')]
          : []),
      ];
    case 'Limited':
      if (exempt) errors.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
      return limited
        ? [...errors, ...validateLimited(limited)]
        : [...errors, required('spec.limited', 'must not be empty when type is Limited')];
    default:
      return [...errors, ...requireOneOf('spec.type', type, ['Exempt', 'Limited'])];
  }
}

type Limited = NonNullable<NonNullable<PriorityLevelConfiguration['spec']>['limited']>;

type Shares = Pick<Limited, 'nominalConcurrencyShares' | 'lendablePercent'>;

function validateNominalShares({ nominalConcurrencyShares: shares }: Shares, path: string): Errors {
  if (shares === undefined || shares >= 0) return [];
  return [invalid(child(path, 'nominalConcurrencyShares'), shares, notNegativeInteger)];
}

function validateLendable({ lendablePercent: percent }: Shares, path: string): Errors {
  if (percent === undefined || (percent >= 0 && percent <= maxPercent)) return [];
  return [invalid(child(path, 'lendablePercent'), percent, percentRange)];
}

function validateLimited(limited: Limited): Errors {
  const { limitResponse, borrowingLimitPercent: borrowing } = limited;
  const errors = validateNominalShares(limited, 'spec.limited');
  const path = 'spec.limited.limitResponse';
  const type: string = limitResponse?.type ?? '';
  const queuing = limitResponse?.queuing;
  errors.push(...requireOneOf(`${path}.type`, type, ['Queue', 'Reject']));
  if (type === 'Queue' && !queuing)
    errors.push(required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited'));
  if (type === 'Reject' && queuing)
    errors.push(forbidden(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited'));
  if (type === 'Queue' && queuing) errors.push(...validateQueuing(queuing, `${path}.queuing`));
  errors.push(...validateLendable(limited, 'spec.limited'));
  if (borrowing === undefined || borrowing >= 0) return errors;
  const detail = `if specified, ${notNegativeInteger}`;
  return [...errors, invalid('spec.limited.borrowingLimitPercent', borrowing, detail)];
}

type Queuing = NonNullable<NonNullable<Limited['limitResponse']>['queuing']>;

function validateQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: Queuing, path: string): Errors {
  const at = (name: string) => `${path}.${name}`;
  const errors: Errors = [];
  if (queueLengthLimit <= 0)
    errors.push(invalid(at('queueLengthLimit'), queueLengthLimit, 'must be positive'));
  if (queues <= 0) errors.push(invalid(at('queues'), queues, 'must be positive'));
  else if (queues > mostQueues)
    errors.push(invalid(at('queues'), queues, `must not be greater than ${mostQueues}`));
  if (handSize <= 0) errors.push(invalid(at('handSize'), handSize, 'must be positive'));
  else if (handSize > queues) {
    const detail = `should not be greater than queues (${queues})`;
    errors.push(invalid(at('handSize'), handSize, detail));
  } else if (entropyOf(queues, handSize) > mostEntropy) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${mostEntropy}`;
    errors.push(invalid(at('handSize'), handSize, detail));
  }
  return errors;
}

/** Bits that it takes to choose a hand. Source: apiserver/pkg/util/shufflesharding.RequiredEntropyBits. */
function entropyOf(deck: number, hand: number): number {
  let bits = 0;
  for (let i = 0; i < hand; i++) bits += Math.log2(deck - i);
  return Math.ceil(bits);
}

/** Zeros stand for what was not given. */
const withoutZeros = (queuing: Queuing, defaults: Required<Queuing>): Queuing => ({
  queues: queuing.queues || defaults.queues,
  handSize: queuing.handSize || defaults.handSize,
  queueLengthLimit: queuing.queueLengthLimit || defaults.queueLengthLimit,
});

/** Source: k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration. */
export const priorityLevelConfigurationStrategy = defineStrategy(PriorityLevelConfigurations, {
  keptByStatus: 'all',
  default: (object) =>
    mapMember(object, 'spec', (spec) => {
      const limited = mapMember(spec, 'limited', (given) => {
        const withQueues = mapMember(given, 'limitResponse', (response) =>
          mapMember(response, 'queuing', (queuing) =>
            withoutZeros(queuing, { queues: 64, handSize: 8, queueLengthLimit: 50 }),
          ),
        );
        return fill(withQueues, { nominalConcurrencyShares: defaultShares, lendablePercent: 0 });
      });
      return spec.type === 'Exempt'
        ? { ...limited, exempt: fill(spec.exempt ?? {}, { nominalConcurrencyShares: 0, lendablePercent: 0 }) }
        : limited;
    }),
  validateStatusUpdate: ({ status }) => validateConditions(status?.conditions),
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
