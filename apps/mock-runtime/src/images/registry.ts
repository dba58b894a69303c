import { createHash } from 'node:crypto';
import { CriError, type AuthConfig } from '@tinkernetes/cri';
import type { ImageDefinition, StoredImage } from './image';
import { formatReference, parseReference, type ImageReference } from './reference';

export interface Resolved {
  reference: ImageReference;
  definition: ImageDefinition;
  tag: string;
  digest: string;
}

const knownRegistries = [
  'docker.io',
  'registry.k8s.io',
  'k8s.gcr.io',
  'gcr.io',
  'quay.io',
  'ghcr.io',
  'mcr.microsoft.com',
  'public.ecr.aws',
];

/** Registries that have the same images as others, most of them older names. */
const mirrors = [
  { prefix: 'k8s.gcr.io/', of: 'registry.k8s.io/' },
  { prefix: 'gcr.io/google_containers/', of: 'registry.k8s.io/' },
  { prefix: 'gcr.io/google-containers/', of: 'registry.k8s.io/' },
  { prefix: 'mirror.gcr.io/library/', of: 'docker.io/library/' },
  { prefix: 'public.ecr.aws/docker/library/', of: 'docker.io/library/' },
  { prefix: 'us-docker.pkg.dev/google-samples/containers/gke/', of: 'gcr.io/google-samples/' },
] as const;

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Of a tag's manifest; the same on every node. */
const digestOf = (repository: string, tag: string): string => sha256(`manifest ${repository}:${tag}`);
const imageIdOf = (definition: ImageDefinition, tag: string): string =>
  sha256(`config ${definition.content?.(tag) ?? `${definition.repository}:${tag}`}`);

/** The registries of the world as far as this runtime knows them: what can be pulled, and how the rest fails. */
export class Registry {
  private readonly definitions = new Map<string, ImageDefinition>();

  constructor(definitions: readonly ImageDefinition[]) {
    for (const definition of definitions) this.define(definition);
  }

  define(definition: ImageDefinition): void {
    this.definitions.set(definition.repository, definition);
  }

  /**
   * Throws what containerd's PullImage answers. `generic` stands in for images that nobody defined; `kept`: one that was
   * pulled before needs no credentials.
   */
  resolve(
    image: string,
    auth: AuthConfig | null | 'kept',
    generic?: (reference: ImageReference) => ImageDefinition,
  ): Resolved {
    const reference = parseReference(image);
    if (!reference)
      throw new CriError(
        'INVALID_ARGUMENT',
        `failed to parse image reference "${image}": invalid reference format`,
      );
    const definition = this.definitionOf(reference.repository) ?? generic?.(reference);
    if (!definition) throw notResolved(reference);
    if (auth !== 'kept' && !mayPull(definition, auth)) throw denied(reference);
    const tag = reference.tag ?? this.tagOf(definition, reference.digest);
    if (tag === undefined || !definition.hasTag(tag)) throw notFound(reference);
    const digest = reference.digest ?? digestOf(reference.repository, tag);
    return { reference, definition, tag, digest };
  }

  private definitionOf(repository: string): ImageDefinition | undefined {
    const own = this.definitions.get(repository);
    if (own) return own;
    const mirror = mirrors.find(({ prefix }) => repository.startsWith(prefix));
    return mirror && this.definitions.get(mirror.of + repository.slice(mirror.prefix.length));
  }

  /** Only digests of tags that exist are known; the most common tags are tried. */
  private tagOf({ repository, digests }: ImageDefinition, digest: string | undefined): string | undefined {
    const known = digests?.[digest ?? ''];
    if (known !== undefined) return known;
    return ['latest', 'stable', 'alpine'].find((tag) => digestOf(repository, tag) === digest);
  }
}

export function toStored({ reference, definition, tag, digest }: Resolved): StoredImage {
  return {
    id: imageIdOf(definition, tag),
    repoTags: reference.tag === undefined ? [] : [`${reference.repository}:${reference.tag}`],
    repoDigests: [`${reference.repository}@${digest}`],
    size: definition.size,
    definition,
    tag,
    pinned: false,
  };
}

function unpack(reference: ImageReference): string {
  const name = formatReference(reference);
  return `failed to pull and unpack image "${name}": failed to resolve reference "${name}"`;
}

function notFound(reference: ImageReference): CriError {
  return new CriError('NOT_FOUND', `${unpack(reference)}: ${formatReference(reference)}: not found`);
}

function denied(reference: ImageReference): CriError {
  return new CriError(
    'UNKNOWN',
    `${unpack(reference)}: pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`,
  );
}

/** The image may well be there in real life: what users can do about it here. */
const hint =
  'no program of that name is emulated: see `--images` and `--generic-images` of the mock runtime, or annotate the Pod mock.tinkernetes.dev/generic-image=true';

function notResolved(reference: ImageReference): CriError {
  const { registry, repository, tag = 'latest' } = reference;
  if (registry === 'docker.io') return new CriError('UNKNOWN', `${denied(reference).message} (${hint})`);
  if (knownRegistries.includes(registry))
    return new CriError('NOT_FOUND', `${notFound(reference).message} (${hint})`);
  const path = repository.slice(registry.length + 1);
  return new CriError(
    'UNKNOWN',
    `${unpack(reference)}: failed to do request: Head "https://${registry}/v2/${path}/manifests/${tag}": dial tcp: lookup ${registry.split(':')[0]}: no such host`,
  );
}

function mayPull({ credentials }: ImageDefinition, auth: AuthConfig | null): boolean {
  if (!credentials) return true;
  const [username, password] = auth?.auth
    ? (Buffer.from(auth.auth, 'base64').toString().split(':', 2) as [string, string])
    : [auth?.username ?? '', auth?.password ?? ''];
  return username === credentials.username && password === credentials.password;
}
