import { StatusError } from '@tinkernetes/apimachinery';

export type Format = 'json' | 'yaml' | 'protobuf';
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Negotiated {
  format: Format;
  transform?: Transform;
  /** Of meta.k8s.io: `v1`, `v1beta1`. */
  transformVersion?: string;
  contentType: string;
}

const plainJson: Negotiated = { format: 'json', contentType: 'application/json' };

const formatOf: Readonly<Record<string, Format | undefined>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
  'application/*': 'json',
  '*/*': 'json',
};
const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

const listTransforms: readonly string[] = ['Table', 'PartialObjectMetadataList'];
const objectTransforms: readonly string[] = ['Table', 'PartialObjectMetadata'];

const transformsOf: Readonly<Record<Accepted['scope'], readonly string[]>> = {
  object: objectTransforms,
  list: listTransforms,
  watch: [...objectTransforms, 'PartialObjectMetadataList'],
  none: [],
  status: [],
};

export interface Accepted {
  /** Go type of the object, for messages: `core.ConfigMap`. */
  target?: string;
  /** Formats that the kind can be written in. */
  protobuf: boolean;
  /** `status`: the answer is a Status, which is never transformed, whatever was asked for. */
  scope: 'object' | 'list' | 'watch' | 'none' | 'status';
}

/** The best of what the client accepts; 406 where nothing fits. Source: k8s.io/apiserver/pkg/endpoints/handlers/negotiation. */
export function negotiate(accept: string | undefined, allowed: Accepted): Negotiated {
  if (!accept || accept === 'application/json' || accept === '*/*') return plainJson;
  let mismatch: StatusError | undefined;
  for (const { type, parameters } of clauses(accept)) {
    const format = formatOf[type];
    if (!format || (format === 'protobuf' && !allowed.protobuf)) continue;
    const as = parameters.get('as');
    if (as === undefined || allowed.scope === 'status') return { format, contentType: contentTypes[format] };
    // No protobuf message holds a Table.
    if (format === 'protobuf' && as === 'Table') continue;
    const version = parameters.get('v') ?? '';
    const transforms = transformsOf[allowed.scope];
    if (parameters.get('g') !== 'meta.k8s.io') continue;
    if (!transforms.includes(as)) {
      mismatch ??= mismatchOf(as, allowed);
      continue;
    }
    if (version !== 'v1' && version !== 'v1beta1') continue;
    return {
      format,
      transform: as as Transform,
      transformVersion: version,
      contentType: contentTypes[format],
    };
  }
  throw mismatch ?? notAcceptable(allowed);
}

/** The best form that a client takes of what is never transformed; undefined: none. */
export function acceptedFormat(accept: string | undefined): Negotiated | undefined {
  if (!accept || accept === 'application/json' || accept === '*/*') return plainJson;
  for (const { type, parameters } of clauses(accept)) {
    const format = formatOf[type];
    if (format && !parameters.has('as')) return { format, contentType: contentTypes[format] };
  }
  return undefined;
}

/** Metadata of one object was asked for where there is a list, or the other way round. */
function mismatchOf(as: string, { scope, target = '' }: Accepted): StatusError | undefined {
  if (scope === 'list' && as === 'PartialObjectMetadata') {
    const text = `you requested PartialObjectMetadata, but the requested object is a list (*${target}List)`;
    return new StatusError('NotAcceptable', text);
  }
  if (scope === 'object' && as === 'PartialObjectMetadataList') {
    const text = `you requested PartialObjectMetadataList, but the requested object is not a list (*${target})`;
    return new StatusError('NotAcceptable', text);
  }
  return undefined;
}

function notAcceptable({ protobuf }: Pick<Accepted, 'protobuf'>): StatusError {
  const types = [
    'application/json',
    'application/yaml',
    ...(protobuf ? ['application/vnd.kubernetes.protobuf'] : []),
  ];
  return new StatusError('NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`);
}

interface Clause {
  type: string;
  quality: number;
  parameters: Map<string, string>;
}

function clauses(accept: string): Clause[] {
  return accept
    .split(',')
    .map((part): Clause => {
      const [type = '', ...rest] = part.split(';').map((s) => s.trim());
      const parameters = new Map(
        rest.map((p) => {
          const at = p.indexOf('=');
          return at < 0 ? [p, ''] : [p.slice(0, at).trim(), p.slice(at + 1).trim()];
        }),
      );
      return { type: type.toLowerCase(), quality: Number(parameters.get('q') ?? 1), parameters };
    })
    .sort((a, b) => b.quality - a.quality);
}
