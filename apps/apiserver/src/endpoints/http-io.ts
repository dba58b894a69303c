import type { KubeObject } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';
import type { HttpIO } from '../contracts';
import { schemaCodec } from '../codec/object-codec';
import { builtInTyping } from '../registry/generic/built-in-resources';
import { trackManagedFields } from '../registry/generic/field-tracking';
import { readBody } from '../server/body';
import { bodyFormat, parseBody } from '../server/decode-body';
import { sendBytes } from '../server/respond';
import type { EndpointContext } from './context';
import { negotiate } from './negotiation';
import { serialize } from './presenter';
import { defaultFieldManager } from './write-options';

/** Bodies in and answers out for handlers that are not the generic ones. */
export function createHttpIO({ options, clock }: EndpointContext): HttpIO {
  const limit = options.maxRequestBodyBytes;
  return {
    readBody: (request) => readBody(request.raw, limit),
    async readObject(request) {
      const format = bodyFormat(request.raw.headers['content-type']);
      const body = await readBody(request.raw, limit);
      const { value } = parseBody(body, format, 'object');
      const { apiVersion, kind } = typeOf(value);
      const codec = schemaCodec(apiVersion, kind);
      if (!codec) throw badRequest(`no kind "${kind}" is registered for version "${apiVersion}"`);
      const { object } = codec.decode(value);
      // Reviews have no metadata of their own; one that was not sent does not come back.
      const sent =
        (value as { metadata?: unknown }).metadata === undefined
          ? { ...object, metadata: {} as KubeObject['metadata'] }
          : object;
      return trackManagedFields(
        undefined,
        sent,
        {
          user: request.user,
          namespace: request.info.namespace,
          dryRun: false,
          fieldManager:
            request.query.get('fieldManager') || defaultFieldManager(request.raw.headers['user-agent']),
          apiVersion,
          subresource: request.info.subresource,
          fields: { typing: builtInTyping(codec)(), isApply: false },
          warn: (message) => request.warn(message),
        },
        clock.now(),
      );
    },
    respond(request, code, object) {
      const negotiated = negotiate(request.raw.headers.accept, { protobuf: false, scope: 'none' });
      sendBytes(request.response, code, negotiated.contentType, serialize(inOrder(object), negotiated));
    },
  };
}

/** Whatever is sent in their place, they are text. */
function typeOf(value: unknown): { apiVersion: string; kind: string } {
  const { apiVersion, kind } = (value ?? {}) as { apiVersion?: unknown; kind?: unknown };
  return { apiVersion: textOf(apiVersion), kind: textOf(kind) };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** As every object is written: what it is, its metadata, the rest. */
function inOrder(object: object): object {
  const { kind, apiVersion, metadata, ...rest } = object as Partial<KubeObject>;
  return { kind, apiVersion, metadata, ...rest };
}
