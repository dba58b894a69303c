/** A parsed image reference (distribution/reference). */
export interface ImageReference {
  /** `docker.io/library/nginx`. */
  repository: string;
  registry: string;
  tag: string | undefined;
  digest: string | undefined;
}

const defaultRegistry = 'docker.io';
const pathComponent = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagPattern = /^[\w][\w.-]{0,127}$/;
const digestPattern = /^sha256:[a-f0-9]{64}$/;

/** As containerd reads a reference: `nginx` is `docker.io/library/nginx:latest`. Undefined: not a reference. */
export function parseReference(text: string): ImageReference | undefined {
  const [rest = '', digest] = text.split('@', 2);
  const slash = rest.lastIndexOf('/');
  const colon = rest.indexOf(':', slash + 1);
  const name = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  if (name === '' || (tag !== undefined && !tagPattern.test(tag))) return undefined;
  if (digest !== undefined && !digestPattern.test(digest)) return undefined;
  const first = name.split('/')[0] ?? '';
  const hasRegistry = name.includes('/') && (/[.:]/.test(first) || first === 'localhost');
  const registry = hasRegistry ? first : defaultRegistry;
  const path = hasRegistry ? name.slice(first.length + 1) : name;
  if (!path.split('/').every((component) => pathComponent.test(component))) return undefined;
  const full = registry === defaultRegistry && !path.includes('/') ? `library/${path}` : path;
  return {
    registry,
    repository: `${registry}/${full}`,
    tag: tag ?? (digest === undefined ? 'latest' : undefined),
    digest,
  };
}

export function formatReference({ repository, tag, digest }: ImageReference): string {
  return `${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}
