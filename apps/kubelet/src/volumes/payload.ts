import type {
  ConfigMap,
  Container,
  DownwardAPIVolumeFile,
  KeyToPath,
  Node,
  Pod,
  Secret,
  Volume,
} from '@tinkernetes/api';
import type { ObjectSource } from '../environment/environment';
import { fieldValue, resourceValue, type PodAddresses } from '../environment/field-ref';
import type { Payload, ProjectedFile } from './atomic-writer';
import type { TokenManager } from './token-manager';
import type { TrustBundles } from './trust-bundles';

export interface PayloadContext {
  objects: ObjectSource;
  tokens: TokenManager;
  trustBundles: TrustBundles;
  node: Node | undefined;
  addresses: PodAddresses;
}

const defaultMode = 0o644;

/** The files of a configMap, secret, downwardAPI or projected volume; undefined for other kinds of volume. */
export async function volumePayload(
  pod: Pod,
  volume: Volume,
  context: PayloadContext,
): Promise<Payload | undefined> {
  const namespace = pod.metadata.namespace ?? '';
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap) {
    const found = await context.objects.configMap(namespace, configMap.name ?? '');
    const mode = configMap.defaultMode ?? defaultMode;
    return configMapFiles(found, { ...configMap, name: configMap.name ?? '', namespace, mode });
  }
  if (secret) {
    const found = await context.objects.secret(namespace, secret.secretName ?? '');
    const mode = secret.defaultMode ?? defaultMode;
    return secretFiles(found, { ...secret, name: secret.secretName ?? '', namespace, mode });
  }
  if (downwardAPI) {
    return downwardFiles(pod, downwardAPI.items ?? [], {
      ...context,
      mode: downwardAPI.defaultMode ?? defaultMode,
    });
  }
  if (!projected) return undefined;
  const files = new Map<string, ProjectedFile>();
  const mode = projected.defaultMode ?? defaultMode;
  for (const source of projected.sources ?? []) {
    const part = await projectedFiles(pod, source, { ...context, mode });
    for (const [path, file] of part) files.set(path, file);
  }
  return files;
}

async function projectedFiles(
  pod: Pod,
  source: NonNullable<NonNullable<Volume['projected']>['sources']>[number],
  context: PayloadContext & { mode: number },
): Promise<Payload> {
  const namespace = pod.metadata.namespace ?? '';
  const { mode } = context;
  if (source.configMap) {
    const name = source.configMap.name ?? '';
    return configMapFiles(await context.objects.configMap(namespace, name), {
      ...source.configMap,
      name,
      namespace,
      mode,
    });
  }
  if (source.secret) {
    const name = source.secret.name ?? '';
    return secretFiles(await context.objects.secret(namespace, name), {
      ...source.secret,
      name,
      namespace,
      mode,
    });
  }
  if (source.downwardAPI) return downwardFiles(pod, source.downwardAPI.items ?? [], context);
  if (source.serviceAccountToken) {
    const token = await context.tokens.get(pod, source.serviceAccountToken);
    // A Pod that runs as one user for all containers reads it as the group; tokens are nobody else's business.
    const owned = pod.spec.securityContext?.fsGroup !== undefined;
    return new Map([
      [source.serviceAccountToken.path, { data: Buffer.from(token), mode: owned ? 0o600 : mode }],
    ]);
  }
  if (source.clusterTrustBundle) {
    const certificates = await context.trustBundles.read(source.clusterTrustBundle);
    return new Map([[source.clusterTrustBundle.path, { data: Buffer.from(certificates), mode }]]);
  }
  const [kind] = Object.keys(source);
  if (kind === undefined)
    throw new Error('a projected volume source is empty: podCertificate is not enabled in this cluster');
  throw new Error(`projected volume source ${kind} is not supported by this kubelet`);
}

interface KeySelection {
  namespace: string;
  name: string;
  items?: readonly KeyToPath[];
  optional?: boolean;
  mode: number;
}

function configMapFiles(found: ConfigMap | undefined, selection: KeySelection): Payload {
  if (!found) return missing('configmap', selection);
  const data = new Map<string, Buffer>();
  for (const [key, value] of Object.entries(found.data ?? {})) data.set(key, Buffer.from(value));
  for (const [key, value] of Object.entries(found.binaryData ?? {}))
    data.set(key, Buffer.from(value, 'base64'));
  return select(data, selection);
}

function secretFiles(found: Secret | undefined, selection: KeySelection): Payload {
  if (!found) return missing('secret', selection);
  const data = new Map(
    Object.entries(found.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')]),
  );
  return select(data, selection);
}

function missing(kind: string, { name, optional }: KeySelection): Payload {
  if (!optional) throw new Error(`${kind} "${name}" not found`);
  return new Map();
}

function select(data: ReadonlyMap<string, Buffer>, { items, optional, mode }: KeySelection): Payload {
  const files = new Map<string, ProjectedFile>();
  if (!items || items.length === 0) {
    for (const [key, value] of data) files.set(key, { data: value, mode });
    return files;
  }
  for (const item of items) {
    const value = data.get(item.key);
    if (value !== undefined) files.set(item.path, { data: value, mode: item.mode ?? mode });
    else if (!optional) throw new Error(`references non-existent config key: ${item.key}`);
  }
  return files;
}

function downwardFiles(
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[],
  { node, addresses, mode }: PayloadContext & { mode: number },
): Payload {
  const files = new Map<string, ProjectedFile>();
  const [first] = pod.spec.containers;
  for (const item of items) {
    let text = '';
    if (item.fieldRef) text = fieldValue(pod, item.fieldRef.fieldPath, addresses);
    else if (item.resourceFieldRef)
      text = resourceValue(pod, first as Container, item.resourceFieldRef, node);
    files.set(item.path, { data: Buffer.from(text), mode: item.mode ?? mode });
  }
  return files;
}
