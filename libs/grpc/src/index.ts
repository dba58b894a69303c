export type { CallOptions } from './client-call';
export { GrpcClient, type GrpcClientOptions, type Method, type Reply } from './grpc-client';
export { GrpcServer, type GrpcServerOptions, type ServerHandler, type UnaryAnswer } from './grpc-server';
export { metadataValue, readStatusMessage } from './http2-headers';
export { ReadingServer } from './reading-server';
export type { ServerCall } from './server-call';
export { grpcServices, type GrpcServices } from './services';
export { RpcError, statusCodes, statusName, type Metadata, type StatusName } from './status';
