import type { Clock, Logger } from '@tinkernetes/component-base';
import { parseDuration } from '@tinkernetes/component-base';
import { CriError, type AuthConfig, type PodSandboxConfig } from '@tinkernetes/cri';
import { RecordStore } from '../containers/record-store';
import { scripted } from '../containers/failure-script';
import { genericImage } from './generic-image';
import type { StoredImage } from './image';
import { formatReference, parseReference } from './reference';
import { toStored, type Registry } from './registry';

export interface ImageStoreOptions {
  /** Where the store's list is kept. */
  file: string;
  registry: Registry;
  clock: Clock;
  logger: Logger;
  genericImages: boolean;
}

/** What is kept of an image: its definition is found again by its name. */
interface ImageRecord {
  id: string;
  repoTags: string[];
  repoDigests: string[];
  repository: string;
  tag: string;
  generic: boolean;
}

/** The node's images. */
export class ImageStore {
  private readonly images = new Map<string, StoredImage>();
  private readonly store: RecordStore<ImageRecord>;

  constructor(private readonly options: ImageStoreOptions) {
    this.store = new RecordStore(options.file, options.logger);
  }

  load(): void {
    for (const record of this.store.load()) {
      try {
        const { definition } = this.options.registry.resolve(
          `${record.repository}:${record.tag}`,
          'kept',
          record.generic ? genericImage : undefined,
        );
        this.images.set(record.id, {
          ...record,
          definition,
          size: definition.size,
          pinned: isPinned(record.repository),
        });
      } catch (error) {
        if (!(error instanceof CriError)) throw error;
        this.store.delete(record.id);
      }
    }
  }

  close(): void {
    this.store.close();
  }

  list(): StoredImage[] {
    return [...this.images.values()];
  }

  byId(id: string): StoredImage | undefined {
    return this.images.get(id);
  }

  /** By id (with or without `sha256:`), tag or digest. */
  find(image: string): StoredImage | undefined {
    const byId = this.images.get(image) ?? this.images.get(`sha256:${image}`);
    if (byId) return byId;
    const reference = parseReference(image);
    if (!reference) return undefined;
    const { repository, tag, digest } = reference;
    return this.list().find((stored) =>
      digest === undefined
        ? stored.repoTags.includes(`${repository}:${tag}`)
        : stored.repoDigests.includes(`${repository}@${digest}`),
    );
  }

  async pull(image: string, auth: AuthConfig | null, sandbox: PodSandboxConfig | null): Promise<StoredImage> {
    const { registry, clock, genericImages, logger } = this.options;
    const annotations = sandbox?.annotations ?? {};
    const value = (name: Parameters<typeof scripted>[2]) => scripted(annotations, '', name);
    await clock.sleep(parseDuration(value('pull-delay') ?? '0') ?? 0);
    const failure = value('pull-error');
    if (failure !== undefined) {
      const reference = parseReference(image);
      const name = reference ? formatReference(reference) : image;
      throw new CriError('UNKNOWN', `failed to pull and unpack image "${name}": ${failure}`);
    }
    const allowed = genericImages || value('generic-image') === 'true';
    const resolved = registry.resolve(image, auth, allowed ? genericImage : undefined);
    const pulled = toStored(resolved);
    const known = this.images.get(pulled.id);
    const stored: StoredImage = {
      ...pulled,
      repoTags: union(known?.repoTags, pulled.repoTags),
      repoDigests: union(known?.repoDigests, pulled.repoDigests),
      pinned: isPinned(resolved.reference.repository),
    };
    this.images.set(stored.id, stored);
    this.save(stored);
    logger.info({ image: formatReference(resolved.reference), id: stored.id }, 'image pulled');
    return stored;
  }

  remove(image: string): void {
    const stored = this.find(image);
    if (!stored) return;
    this.images.delete(stored.id);
    this.store.delete(stored.id);
  }

  private save({ id, repoTags, repoDigests, definition, tag }: StoredImage): void {
    const generic = definition.config.entrypoint?.[0] === '/generic';
    this.store.save({ id, repoTags, repoDigests, repository: definition.repository, tag, generic });
  }
}

const isPinned = (repository: string): boolean => repository === 'registry.k8s.io/pause';
const union = (a: readonly string[] = [], b: readonly string[]): string[] => [...new Set([...a, ...b])];
