import type { Secret } from '@tinkernetes/api';
import type { AuthConfig, DeepPartial } from '@tinkernetes/cri';
import { repositoryOf } from './image-name';

interface DockerEntry {
  username?: string;
  password?: string;
  /** base64 of `username:password`. */
  auth?: string;
  identitytoken?: string;
}

/** What to log in with, and the Secret that has it. */
export interface SecretCredential {
  auth: DeepPartial<AuthConfig>;
  secret: { uid: string; namespace: string; name: string };
}

/**
 * Registry credentials for an image out of imagePullSecrets, the most specific entry first.
 * Source: https://kubernetes.io/docs/concepts/containers/images/#config-json
 */
export function credentialsFor(image: string, secrets: readonly Secret[]): SecretCredential[] {
  const repository = repositoryOf(image);
  return secrets
    .flatMap(({ metadata: { uid = '', namespace = '', name }, ...secret }) =>
      entriesOf(secret).map(([pattern, entry]) => ({ pattern, entry, secret: { uid, namespace, name } })),
    )
    .filter(({ pattern }) => matches(pattern, repository))
    .sort((a, b) => b.pattern.length - a.pattern.length)
    .map(({ pattern, entry, secret }) => ({ auth: toAuthConfig(pattern, entry), secret }));
}

function entriesOf(secret: Pick<Secret, 'data'>): Array<[string, DockerEntry]> {
  const modern = secret.data?.['.dockerconfigjson'];
  const legacy = secret.data?.['.dockercfg'];
  const text = modern ?? legacy;
  if (text === undefined) return [];
  const parsed = parse(Buffer.from(text, 'base64').toString());
  const auths = modern === undefined ? parsed : (parsed as { auths?: unknown } | null | undefined)?.auths;
  if (typeof auths !== 'object' || auths === null) return [];
  return Object.entries(auths)
    .filter(([, entry]: [string, unknown]) => typeof entry === 'object' && entry !== null)
    .map(([key, entry]: [string, DockerEntry]) => [normalize(key), entry]);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `https://index.docker.io/v1/` means Docker Hub. */
function normalize(key: string): string {
  const bare = key
    .replace(/^https?:\/\//, '')
    .replace(/\/(v1|v2)\/?$/, '')
    .replace(/\/$/, '');
  return bare.replace(/^(index|registry-1)\.docker\.io/, 'docker.io');
}

/** Host by host label (`*` matches one), path by prefix. */
function matches(pattern: string, repository: string): boolean {
  const [host = '', ...path] = pattern.split('/');
  const [wantedHost = '', ...wantedPath] = repository.split('/');
  const labels = host.split('.');
  const wantedLabels = wantedHost.split('.');
  if (labels.length !== wantedLabels.length) return false;
  const hostMatches = labels.every((label, i) => globMatches(label, wantedLabels[i] ?? ''));
  return hostMatches && path.every((segment, i) => segment === wantedPath[i]);
}

function globMatches(glob: string, text: string): boolean {
  const escaped = glob.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`).test(text);
}

function toAuthConfig(serverAddress: string, entry: DockerEntry): DeepPartial<AuthConfig> {
  const [username = '', ...password] = Buffer.from(entry.auth ?? '', 'base64')
    .toString()
    .split(':');
  return {
    serverAddress,
    username: entry.username ?? username,
    password: entry.password ?? password.join(':'),
    identityToken: entry.identitytoken ?? '',
  };
}
