export { grpcServices, type GrpcServices } from './services';
