export {
  decodeProtobuf,
  encodeListEnvelope,
  encodeMessageOf,
  encodeProtobuf,
  encodeWatchFrame,
  messageIn,
  messageNameOf,
} from './envelope';
