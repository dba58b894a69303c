export { storageContract, type StorageContractOptions } from './contract';
export { bytes, text, WatchRecording } from './collect';
export { EtcdServer } from './etcd-server';
