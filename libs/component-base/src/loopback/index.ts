export { certificatesIn } from './certificates';
export { clientIdentities } from './client-identities';
export {
  LoopbackNetwork,
  type LoopbackIdentity,
  type LoopbackServer,
  type LoopbackTarget,
} from './loopback-network';
export { LoopbackSocket, type LoopbackPeer } from './loopback-socket';
