import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';
import { parseExtraConfig, type ExtraFlag } from './cluster/extra-config';

/** Components that `--without` can leave out, in the order in which they are started. */
const optionalComponents = [
  'controller-manager',
  'mock-runtime',
  'kubelet',
  'scheduler',
  'kube-proxy',
  'cluster-dns',
] as const;
export type OptionalComponent = (typeof optionalComponents)[number];

export const dataDirFlag = {
  'data-dir': {
    type: 'string',
    default: '.tinkernetes',
    help: 'Where the cluster keeps its objects, keys and logs',
  },
} as const satisfies Record<string, FlagSpec>;

export const upFlags = {
  ...dataDirFlag,
  nodes: { type: 'number', default: 3, min: 0, max: 500, help: 'Number of nodes' },
  'api-port': {
    type: 'number',
    default: 6443,
    min: 0,
    max: 65535,
    help: 'Port of the API server; 0: any free one, kept for the next start',
  },
  bind: { type: 'string', default: '127.0.0.1', help: 'Address the API server listens on' },
  storage: {
    type: 'string',
    help: 'sqlite (default), sqlite:FILE, memory, redis://HOST:PORT or etcd:ENDPOINTS',
  },
  ephemeral: {
    type: 'boolean',
    default: false,
    help: 'Keep nothing: memory storage in a temporary data directory',
  },
  'in-process': {
    type: 'boolean',
    default: false,
    help: 'All components in one Node process (same HTTP and gRPC between them)',
  },
  without: { type: 'list', help: `Components to leave out: ${optionalComponents.join(', ')}` },
  kubeconfig: { type: 'string', help: 'Where to write the kubeconfig (default <data-dir>/kubeconfig)' },
  verbosity: {
    type: 'number',
    default: 0,
    min: 0,
    max: 10,
    help: 'Log verbosity of all components, as klog -v',
  },
  'generic-images': {
    type: 'boolean',
    default: false,
    help: 'Let Pods use images that nobody defined (they run until stopped)',
  },
  images: { type: 'string', help: 'TypeScript or JavaScript file of images that you define' },
  'extra-config': {
    type: 'list',
    whole: true,
    help: 'COMPONENT.FLAG=VALUE: a flag for that component, e.g. kubelet.max-pods=20 or, of one node, kubelet-node-2.max-pods=20; may be given several times',
  },
} as const satisfies Record<string, FlagSpec>;

/** What a cluster is made of; validated. Paths are absolute. */
export interface ClusterOptions {
  dataDir: string;
  nodes: number;
  /** 0: any free port. */
  apiPort: number;
  bind: string;
  /** As the API server's `--storage`. */
  storage: string;
  ephemeral: boolean;
  inProcess: boolean;
  without: ReadonlySet<OptionalComponent>;
  kubeconfig: string;
  verbosity: number;
  genericImages: boolean;
  images: string | undefined;
  extraConfig: readonly ExtraFlag[];
}

export function toClusterOptions(
  flags: FlagValues<typeof upFlags>,
  ephemeralDir: () => string,
): ClusterOptions {
  const dataDir = flags.ephemeral ? ephemeralDir() : resolve(flags['data-dir']);
  return {
    dataDir,
    nodes: flags.nodes,
    apiPort: flags['api-port'],
    bind: flags.bind,
    storage: storageSpec(flags.storage, { dataDir, ephemeral: flags.ephemeral }),
    ephemeral: flags.ephemeral,
    inProcess: flags['in-process'],
    without: parseWithout(flags.without),
    kubeconfig: flags.kubeconfig ? resolve(flags.kubeconfig) : resolve(flags['data-dir'], 'kubeconfig'),
    verbosity: flags.verbosity,
    genericImages: flags['generic-images'],
    images: flags.images === undefined ? undefined : imagesFile(flags.images),
    extraConfig: parseExtraConfig(flags['extra-config'], flags.nodes),
  };
}

/** Without it no runtime starts, so the user learns of a mistyped name at once. */
function imagesFile(given: string): string {
  const path = resolve(given);
  if (!existsSync(path)) throw new UsageError(`--images ${given}: no such file`);
  return path;
}

export function storageSpec(
  given: string | undefined,
  { dataDir, ephemeral }: { dataDir: string; ephemeral: boolean },
): string {
  if (ephemeral && given !== undefined && given !== 'memory') {
    throw new UsageError(`--ephemeral keeps nothing, so it can't be combined with --storage ${given}`);
  }
  if (ephemeral || given === 'memory') return 'memory';
  if (given === undefined || given === 'sqlite') return `sqlite:${resolve(dataDir, 'storage/state.db')}`;
  if (/^sqlite:./.test(given)) return `sqlite:${resolve(given.slice('sqlite:'.length))}`;
  if (/^(?:rediss?:\/\/|etcd:).+/.test(given)) return given;
  throw new UsageError(
    `invalid value "${given}" for --storage: must be sqlite, sqlite:FILE, memory, redis://HOST:PORT or etcd:ENDPOINTS`,
  );
}

function parseWithout(names: readonly string[]): ReadonlySet<OptionalComponent> {
  const known: readonly string[] = optionalComponents;
  for (const name of names) {
    if (name === 'apiserver')
      throw new UsageError('--without apiserver: nothing works without the API server');
    if (!known.includes(name)) {
      throw new UsageError(
        `--without ${name}: no such component. Components: ${optionalComponents.join(', ')}`,
      );
    }
  }
  return new Set(names as OptionalComponent[]);
}
