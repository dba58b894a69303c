export * from './types';
export { createClient, type ClientDeps } from './client';
export { createConnectionPool, type ConnectionPool } from './transport';
export { loadKubeconfig, type KubeconfigOptions } from './kubeconfig';
export { loadInClusterConfig } from './in-cluster-config';
