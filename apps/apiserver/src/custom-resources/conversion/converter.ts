import type { CustomResourceDefinition, KubeObject } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { Random } from '@tinkernetes/component-base';
import type { WebhookClient } from '../../webhooks/webhook-client';
import { prune } from '../prune';
import type { Schema } from '../structural-schema';
import { checkedObject, conversionReview, convertedObjects, typeOf } from './conversion-review';

/** Brings custom objects from one version of their definition into another, all of one kind. */
export type Converter = (
  objects: readonly KubeObject[],
  apiVersion: string,
) => KubeObject[] | Promise<KubeObject[]>;

export interface ConversionTools {
  /** Made when the first webhook is asked. */
  webhooks(): Promise<WebhookClient>;
  random: Random;
  /** Aborted when the server stops: it does not wait for webhooks that don't answer. */
  signal: AbortSignal;
}

/** As upstream's clients of webhooks have it. */
const timeoutMs = 30_000;

/** How a definition converts its objects: by name only, or by asking its webhook. */
export function converterOf(
  definition: CustomResourceDefinition,
  schemas: ReadonlyMap<string, Schema>,
  tools: ConversionTools,
): { convert: Converter; isLocal: boolean } {
  const local: Converter = (objects, apiVersion) =>
    objects.map((object) =>
      object.apiVersion === apiVersion ? object : convertByName(object, apiVersion, schemas.get(apiVersion)),
    );
  if (definition.spec.conversion?.strategy !== 'Webhook') return { convert: local, isLocal: true };
  const ask = webhookConverter(definition, tools);
  return {
    isLocal: false,
    convert: async (objects, apiVersion) => {
      const foreign = objects.filter((object) => object.apiVersion !== apiVersion);
      if (foreign.length === 0) return [...objects];
      const converted = (await ask(foreign, apiVersion)).values();
      return objects.map((object) => {
        if (object.apiVersion === apiVersion) return object;
        const { value } = converted.next() as { value: KubeObject };
        return pruned(value, schemas.get(apiVersion));
      });
    },
  };
}

/** The same object under another version: only apiVersion changes, then the target's schema prunes it. */
function convertByName(object: KubeObject, apiVersion: string, schema: Schema | undefined): KubeObject {
  return pruned({ ...object, apiVersion }, schema);
}

function pruned(object: KubeObject, schema: Schema | undefined): KubeObject {
  if (!schema) return object;
  const { apiVersion, kind, metadata, ...rest } = object as KubeObject & Record<string, unknown>;
  return { apiVersion, kind, metadata, ...(prune(rest, schema, '', []) as object) } as KubeObject;
}

/** Source: apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go. */
function webhookConverter({ spec }: CustomResourceDefinition, { webhooks, random, signal }: ConversionTools) {
  const webhook = spec.conversion?.webhook;
  return async (objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> => {
    const [first] = objects;
    const uid = random.uid();
    const review = conversionReview({
      objects,
      desiredApiVersion: apiVersion,
      uid,
      reviewVersions: webhook?.conversionReviewVersions ?? [],
    });
    let answered: unknown[];
    try {
      const client = await webhooks();
      const answer = await client.call({
        config: webhook?.clientConfig ?? {},
        timeoutMs,
        body: review,
        signal,
      });
      answered = convertedObjects(answer, { apiVersion: review.apiVersion, uid });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StatusError('Unknown', `conversion webhook for ${typeOf(first ?? {})} failed: ${reason}`, {
        cause: error,
      });
    }
    if (answered.length !== objects.length) {
      throw new StatusError(
        'Unknown',
        `conversion webhook for ${typeOf(first ?? {})} returned ${answered.length} objects, expected ${objects.length}`,
      );
    }
    return objects.map((object, i) => checkedObject(object, answered[i], apiVersion));
  };
}
