export { startApiServer, type ApiServerOptionsForTests, type TestApiServer } from './start-api-server';
export { kubeconfigText } from './kubeconfig-text';
