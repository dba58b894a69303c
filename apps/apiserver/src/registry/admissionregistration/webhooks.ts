import { MutatingWebhookConfigurations, ValidatingWebhookConfigurations } from '@tinkernetes/api';
import type { MutatingWebhook, ValidatingWebhook, WebhookClientConfig } from '@tinkernetes/api';
import {
  child,
  duplicate,
  invalid,
  isDns1035Label,
  isDns1123Subdomain,
  required,
} from '@tinkernetes/apimachinery';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { fill, mapList, mapMember } from '../fill';
import { validateLabelSelector } from '../pod-spec/label-selectors';
import { check, eachOf, notNegative, oneOf } from '../rules';
import type { Errors } from '../rules';
import { validateMatchConditions } from './expressions';
import { validateClientConfig } from './client-config';
import { defaultRules, validateRule } from './rules';

type Webhook = ValidatingWebhook | MutatingWebhook;
const maxTimeout = 30;
const reviewVersions = ['v1', 'v1beta1'];

const defaultClientConfig = (config: WebhookClientConfig): WebhookClientConfig =>
  mapMember(config, 'service', (service) => fill(service, { port: 443 }));

function defaultWebhook<W extends Webhook>(webhook: W): W {
  const withRules = mapMember(webhook, 'rules', (rules) => defaultRules(rules ?? []) as W['rules']);
  const withPort = { ...withRules, clientConfig: defaultClientConfig(withRules.clientConfig) };
  return fill<Webhook>(withPort, {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  }) as W;
}

function validateName(name: string, path: string): Errors {
  if (!name) return [required(path)];
  const errors = check(path, name, isDns1123Subdomain);
  if (errors.length > 0) return errors;
  return name.split('.').length < 3
    ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function validateVersions(versions: readonly string[] | undefined, path: string): Errors {
  if (!versions?.length) return [required(path, 'must specify one of v1, v1beta1')];
  const seen = new Set<string>();
  const errors = eachOf(path, versions, (version, at) => {
    const isDuplicate = seen.has(version);
    seen.add(version);
    return isDuplicate ? [invalid(at, version, 'duplicate version')] : check(at, version, isDns1035Label);
  });
  return versions.some((version) => reviewVersions.includes(version))
    ? errors
    : [...errors, invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)];
}

function validateTimeout(seconds: number | undefined, path: string): Errors {
  return seconds !== undefined && (seconds < 1 || seconds > maxTimeout)
    ? [invalid(path, seconds, `the timeout value must be between 1 and ${maxTimeout} seconds`)]
    : notNegative(path, seconds);
}

const validateSideEffects = (effects: string | undefined | null, path: string): Errors =>
  effects === undefined || effects === null
    ? [required(path, 'must specify one of None, NoneOnDryRun')]
    : oneOf(path, effects, ['None', 'NoneOnDryRun']);

/** Source: admissionregistration/validation.validateValidatingWebhook. */
function validateWebhooks(webhooks: readonly Webhook[] | undefined): Errors {
  const names = new Set<string>();
  return eachOf('webhooks', webhooks, (webhook, at) => {
    const isDuplicate = names.has(webhook.name);
    names.add(webhook.name);
    return [
      ...validateName(webhook.name, child(at, 'name')),
      ...(isDuplicate ? [duplicate(child(at, 'name'), webhook.name)] : []),
      ...eachOf(child(at, 'rules'), webhook.rules, validateRule),
      ...oneOf(child(at, 'failurePolicy'), webhook.failurePolicy, ['Fail', 'Ignore']),
      ...oneOf(child(at, 'matchPolicy'), webhook.matchPolicy, ['Equivalent', 'Exact']),
      ...validateSideEffects(webhook.sideEffects, child(at, 'sideEffects')),
      ...validateTimeout(webhook.timeoutSeconds, child(at, 'timeoutSeconds')),
      ...validateLabelSelector(webhook.namespaceSelector, child(at, 'namespaceSelector')),
      ...validateLabelSelector(webhook.objectSelector, child(at, 'objectSelector')),
      ...validateClientConfig(webhook.clientConfig, child(at, 'clientConfig')),
      ...validateMatchConditions(webhook.matchConditions, child(at, 'matchConditions')),
      ...validateVersions(webhook.admissionReviewVersions, child(at, 'admissionReviewVersions')),
    ];
  });
}

/** Source: k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration. */
export const validatingWebhookConfigurationStrategy = defineStrategy(ValidatingWebhookConfigurations, {
  allowUnconditionalUpdate: false,
  hasGeneration: true,
  default: (object) => mapMember(object, 'webhooks', (webhooks) => mapList(webhooks, defaultWebhook)),
  validate: (object) => validateWebhooks(object.webhooks),
  tableCells: (object, now) => [object.metadata.name, object.webhooks?.length ?? 0, age(object, now)],
});

/** Source: k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration. */
export const mutatingWebhookConfigurationStrategy = defineStrategy(MutatingWebhookConfigurations, {
  allowUnconditionalUpdate: false,
  hasGeneration: true,
  default: (object) =>
    mapMember(object, 'webhooks', (webhooks) =>
      mapList(webhooks, (webhook) => fill(defaultWebhook(webhook), { reinvocationPolicy: 'Never' })),
    ),
  validate: (object) => [
    ...validateWebhooks(object.webhooks),
    ...eachOf('webhooks', object.webhooks, (webhook, at) =>
      oneOf(child(at, 'reinvocationPolicy'), webhook.reinvocationPolicy, ['IfNeeded', 'Never']),
    ),
  ],
  tableCells: (object, now) => [object.metadata.name, object.webhooks?.length ?? 0, age(object, now)],
});
