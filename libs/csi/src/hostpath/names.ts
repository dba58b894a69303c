/** The driver's name, as StorageClasses and CSIDriver objects have it. */
export const hostPathDriverName = 'hostpath.csi.tinkernetes.dev';
/** The label of nodes by which volumes that stay on one node find it. */
export const topologyKey = 'topology.hostpath.csi.tinkernetes.dev/node';
