export { startCluster, type RunningCluster, type StartClusterOptions } from './start-cluster';
