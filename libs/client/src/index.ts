export * from './types';
export { createClient, type ClientDeps } from './client';
export { loadKubeconfig, type KubeconfigOptions } from './kubeconfig';
export { loadInClusterConfig } from './in-cluster-config';
