/** The driver's name, as StorageClasses and CSIDriver objects have it. */
export const hostPathDriverName = 'hostpath.csi.tinkernetes.dev';
/** The label of nodes by which volumes that stay on one node find it. */
export const topologyKey = 'topology.hostpath.csi.tinkernetes.dev/node';
/** In the context of a block volume: its bytes, which a node with a disk of its own has to know. */
export const sizeKey = `${hostPathDriverName}/size`;
