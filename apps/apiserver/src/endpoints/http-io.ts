import type { KubeObject } from '@tinkernetes/api';
import type { HttpIO } from '../contracts';
import { builtInCodec } from '../codec/object-codec';
import { builtInTyping } from '../registry/generic/built-in-resources';
import { trackManagedFields } from '../registry/generic/field-tracking';
import { readBody } from '../server/body';
import { bodyFormat, parseBody } from '../server/decode-body';
import { sendBytes } from '../server/respond';
import type { EndpointContext } from './context';
import { internalTypeOf } from './internal-type';
import { negotiate } from './negotiation';
import { serialize } from './presenter';
import { checkType } from './read-object';
import { defaultFieldManager } from './write-options';

/** Bodies in and answers out for handlers that are not the generic ones. */
export function createHttpIO({ options, clock }: EndpointContext): HttpIO {
  const limit = options.maxRequestBodyBytes;
  return {
    readBody: (request) => readBody(request.raw, limit),
    async readObject(request, expected) {
      const format = bodyFormat(request.raw.headers['content-type']);
      const body = await readBody(request.raw, limit);
      const codec = builtInCodec(expected);
      const { value } = parseBody(body, format, codec.kind);
      checkType(value, { codec, target: internalTypeOf(expected.group, expected.kind) }, false);
      const { object } = codec.decode(value);
      // Reviews have no metadata of their own; one that was not sent does not come back.
      const sent =
        (value as { metadata?: unknown } | null)?.metadata === undefined
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
          apiVersion: codec.apiVersion,
          subresource: request.info.subresource,
          fields: { typing: builtInTyping(codec)(), isApply: false },
          warn: (message) => request.warn(message),
        },
        clock.now(),
      );
    },
    respond(request, code, object) {
      const negotiated = negotiate(request.raw.headers.accept, { protobuf: true, scope: 'none' });
      sendBytes(request.response, code, negotiated.contentType, serialize(inOrder(object), negotiated));
    },
  };
}

/** As every object is written: what it is, its metadata, the rest. */
function inOrder(object: object): object {
  const { kind, apiVersion, metadata, ...rest } = object as Partial<KubeObject>;
  return { kind, apiVersion, metadata, ...rest };
}
