export type * from './types';
export { CsiError, isCsiError, type CsiErrorCode } from './csi-error';
export { createCsiClient, type CsiClient } from './client';
export { serveCsi, type CsiServer, type CsiServices } from './server';
export { hostPathDriverName, topologyKey as hostPathTopologyKey } from './hostpath/names';
export { serveHostPathController, serveHostPathNode, type NodePluginOptions } from './hostpath/driver';
