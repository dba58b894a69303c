/** The CNI specification's messages (containernetworking/cni SPEC.md, version 1.1.0). */

export const cniVersion = '1.1.0';

export type CniCommand = 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'STATUS' | 'VERSION';

export interface CniInterface {
  name: string;
  mac?: string;
  mtu?: number;
  sandbox?: string;
}

export interface CniAddress {
  /** CIDR notation. */
  address: string;
  gateway?: string;
  /** Index into `interfaces`. */
  interface?: number;
}

export interface CniRoute {
  dst: string;
  gw?: string;
}

export interface CniDns {
  nameservers?: string[];
  domain?: string;
  search?: string[];
  options?: string[];
}

export interface CniResult {
  cniVersion: string;
  interfaces?: CniInterface[];
  ips?: CniAddress[];
  routes?: CniRoute[];
  dns?: CniDns;
}

/** One plugin's configuration as it is written to its stdin. */
export interface PluginConfig {
  cniVersion: string;
  name: string;
  type: string;
  capabilities?: Record<string, boolean>;
  runtimeConfig?: Record<string, unknown>;
  ipam?: { type: string } & Record<string, unknown>;
  prevResult?: CniResult;
  args?: Record<string, unknown>;
  'cni.dev/valid-attachments'?: readonly Attachment[];
  [key: string]: unknown;
}

/** A `*.conflist` file. */
export interface NetworkConfigList {
  cniVersion: string;
  name: string;
  disableCheck?: boolean;
  disableGC?: boolean;
  plugins: readonly ({ type: string } & Partial<PluginConfig>)[];
}

export interface Attachment {
  containerID: string;
  ifname: string;
}

/** Error codes of the specification, section "Error". */
export const cniErrorCode = {
  incompatibleVersion: 1,
  unsupportedField: 2,
  unknownContainer: 3,
  invalidEnvironment: 4,
  ioFailure: 5,
  decodingFailure: 6,
  invalidNetworkConfig: 7,
  tryAgainLater: 11,
  pluginNotAvailable: 50,
  limitedConnectivity: 51,
  internal: 999,
} as const;

/** What a plugin prints to stdout when it fails. */
export class CniError extends Error {
  override readonly name = 'CniError';

  constructor(
    readonly code: number,
    message: string,
    readonly details = '',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
