import type { MutatingWebhook, ValidatingWebhook } from '@tinkernetes/api';
import { badRequest, StatusError } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, Authorizer, ServerDependencies } from '../../contracts';
import { PolicyEvaluation } from '../policies/evaluation';
import { matchesRequest } from '../policies/rule-matching';
import { denied, responseOf, reviewOf, type AdmissionResponse } from './admission-review';
import { lazyWebhookClient } from '../../webhooks/lazy-webhook-client';
import type { WebhookClient } from '../../webhooks/webhook-client';

const defaultTimeoutSeconds = 10;

/** Asks one webhook after the other. Source: k8s.io/apiserver/pkg/admission/plugin/webhook. */
export class WebhookDispatcher {
  private readonly client: () => Promise<WebhookClient>;

  constructor(private readonly deps: ServerDependencies & { authorizer: Authorizer }) {
    this.client = lazyWebhookClient(deps);
  }

  /** undefined: not concerned, or failed where that is to be ignored. Throws the denial. */
  async ask(
    webhook: MutatingWebhook | ValidatingWebhook,
    a: AdmissionAttributes,
  ): Promise<AdmissionResponse | undefined> {
    const criteria = { ...webhook, rules: webhook.rules ?? [] };
    if (!matchesRequest(this.deps.stores, criteria, a)) return undefined;
    try {
      if (!(await this.meetsConditions(webhook, a))) return undefined;
      if (a.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
        throw badRequest(`admission webhook "${webhook.name}" does not support dry run`);
      }
      const response = await this.call(webhook, a);
      for (const warning of response.warnings) a.warn(warning);
      if (!response.allowed) throw denied(webhook.name, response);
      return response;
    } catch (error) {
      if (error instanceof StatusError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      if (webhook.failurePolicy === 'Ignore') {
        this.deps.context.logger.warn({ webhook: webhook.name, reason }, 'webhook failed, as it may');
        return undefined;
      }
      const message = `failed calling webhook "${webhook.name}": ${reason}`;
      throw new StatusError('InternalError', `Internal error occurred: ${message}`, {
        details: { causes: [{ message }] },
        cause: error,
      });
    }
  }

  private async call(
    webhook: MutatingWebhook | ValidatingWebhook,
    a: AdmissionAttributes,
  ): Promise<AdmissionResponse> {
    const uid = this.deps.context.random.uid();
    const client = await this.client();
    const call = {
      config: webhook.clientConfig,
      timeoutMs: (webhook.timeoutSeconds ?? defaultTimeoutSeconds) * 1000,
      body: reviewOf(a, uid),
    };
    const answer = await client.call(call).catch((error: unknown) => {
      throw new Error(`failed to call webhook: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    });
    return responseOf(answer, uid);
  }

  private async meetsConditions(
    { matchConditions = [] }: MutatingWebhook | ValidatingWebhook,
    a: AdmissionAttributes,
  ): Promise<boolean> {
    if (matchConditions.length === 0) return true;
    const evaluation = await PolicyEvaluation.create(this.deps, a, {});
    return evaluation.meets(matchConditions);
  }
}
