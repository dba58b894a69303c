import { UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';

export const flags = {
  listen: { type: 'string', help: 'CRI socket, unix:///path' },
  'vnet-listen': { type: 'string', help: "Socket of the node's emulated network, unix:///path" },
  'root-dir': { type: 'string', help: 'Where state, images and network tables are kept' },
  'node-name': { type: 'string', default: 'node', help: 'Name of the node in traces' },
  'node-address': { type: 'string', default: '172.30.0.10', help: "The node's address in the underlay" },
  'overlay-bind-address': {
    type: 'string',
    default: '127.0.0.1',
    help: 'Real address at which other nodes reach this one',
  },
  'host-alias': {
    type: 'list',
    help: 'RANGE=ADDRESS: underlay addresses that are dialled at a real address',
  },
  'cni-conf-dir': { type: 'string', help: 'Network configuration lists (default ROOT/cni/net.d)' },
  'cni-bin-dir': { type: 'string', help: 'Executables of foreign CNI plugins (default ROOT/cni/bin)' },
  'csi-listen': {
    type: 'string',
    default: '',
    help: "Socket of the node's half of the CSI driver hostpath.csi.tinkernetes.dev, unix:///path; empty: no such driver",
  },
  'csi-state-dir': { type: 'string', default: '', help: "Where that driver's volumes are" },
  'csi-registration-dir': {
    type: 'string',
    default: '',
    help: "The kubelet's plugins_registry, where the driver makes itself known",
  },
  'csi-per-node': {
    type: 'boolean',
    default: false,
    help: "The driver's volumes are on this node's own disk, which other nodes don't see",
  },
  'generic-images': { type: 'boolean', default: false, help: 'Stand in for images that nobody defined' },
  images: { type: 'string', help: 'TypeScript or JavaScript file that defines further images' },
} as const satisfies Record<string, FlagSpec>;

export interface MockRuntimeOptions {
  listen: string;
  vnetListen: string;
  rootDir: string;
  nodeName: string;
  nodeAddress: string;
  overlayBindAddress: string;
  hostAliases: readonly string[];
  cniConfDir: string;
  cniBinDir: string;
  genericImages: boolean;
  /** A file of images besides the catalogue. */
  images: string | undefined;
  csi?: CsiOptions;
}

export interface CsiOptions {
  listen: string;
  stateDir: string;
  registrationDir: string;
  perNode: boolean;
}

export function toOptions(values: FlagValues<typeof flags>): MockRuntimeOptions {
  const rootDir = required(values['root-dir'], 'root-dir');
  return {
    listen: socket(values.listen, 'listen'),
    vnetListen: socket(values['vnet-listen'], 'vnet-listen'),
    rootDir,
    nodeName: values['node-name'],
    nodeAddress: values['node-address'],
    overlayBindAddress: values['overlay-bind-address'],
    hostAliases: values['host-alias'],
    cniConfDir: values['cni-conf-dir'] ?? `${rootDir}/cni/net.d`,
    cniBinDir: values['cni-bin-dir'] ?? `${rootDir}/cni/bin`,
    genericImages: values['generic-images'],
    images: values.images,
    csi: csiOptions(values),
  };
}

function csiOptions(values: FlagValues<typeof flags>): CsiOptions | undefined {
  if (!values['csi-listen']) return undefined;
  return {
    listen: socket(values['csi-listen'], 'csi-listen'),
    stateDir: required(values['csi-state-dir'], 'csi-state-dir'),
    registrationDir: required(values['csi-registration-dir'], 'csi-registration-dir'),
    perNode: values['csi-per-node'],
  };
}

function required(value: string | undefined, flag: string): string {
  if (!value) throw new UsageError(`--${flag} is required`);
  return value;
}

function socket(value: string | undefined, flag: string): string {
  const text = required(value, flag);
  if (!text.startsWith('unix://'))
    throw new UsageError(`invalid value "${text}" for --${flag}: must be unix:///path`);
  return text;
}
