export { decodeProtobuf, encodeProtobuf, encodeWatchFrame, messageNameOf } from './envelope';
