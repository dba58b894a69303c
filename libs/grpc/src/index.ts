export { ReadingServer } from './reading-server';
export { grpcServices, type GrpcServices } from './services';
