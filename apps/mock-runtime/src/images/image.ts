import type { DirectoryNode } from '../files/nodes';
import type { SignalName } from '../kernel/signals';

/** What an image says about how it is run (OCI image configuration). */
export interface ImageConfig {
  entrypoint?: readonly string[];
  cmd?: readonly string[];
  env?: Readonly<Record<string, string>>;
  workingDir?: string;
  /** `65535`, `nginx`, `65535:65535`. */
  user?: string;
  stopSignal?: SignalName;
  exposedPorts?: readonly number[];
}

/** An image that the emulated registries hold. */
export interface ImageDefinition {
  /** `docker.io/library/nginx`. */
  repository: string;
  hasTag(tag: string): boolean;
  /** Compressed size, bytes. */
  size: number;
  config: ImageConfig;
  /** The image's files; built once, when a container first needs them, and shared. */
  root(tag: string): DirectoryNode;
  /** What decides the image's id: tags and repositories of the same content share one. Left out: repository and tag. */
  content?(tag: string): string;
  /** Digests that are known by themselves, and the tag that they stand for. */
  digests?: Readonly<Record<string, string>>;
  /** Pulling needs this user name and password (any password when empty). */
  credentials?: { username: string; password: string };
}

/** An image in the node's store. */
export interface StoredImage {
  /** `sha256:…` of the configuration. */
  id: string;
  repoTags: string[];
  repoDigests: string[];
  size: number;
  definition: ImageDefinition;
  tag: string;
  pinned: boolean;
}
