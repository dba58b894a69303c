export type * from './types';
export { serveRemoteCommand } from './remote-command/serve';
export { servePortForward, type PortForwardOptions } from './port-forward/serve';
export { proxyUpgrade } from './proxy-upgrade';
export { refuseUpgrade } from './upgrade-response';
