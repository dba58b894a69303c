export { storageContract, type StorageContractOptions } from './contract';
export { bytes, text, WatchRecording } from './collect';
