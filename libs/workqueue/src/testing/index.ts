export { workQueueContract, type WorkQueueContractOptions } from './contract';
