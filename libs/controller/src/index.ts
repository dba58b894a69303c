export * from './types';
export { runWorkers, type RunWorkersOptions } from './workers';
export {
  createCacheBarrier,
  createServerBarrier,
  type CaughtUp,
  type CaughtUpWithServer,
} from './cache-barrier';
export { groupResourceOf, isInsideRun, KeyLostError, trackWrites } from './write-tracking';
export { createEventRecorder, type EventRecorderOptions } from './event-recorder';
export { runLeaderElection, LeadershipLostError, type LeaderElectionOptions } from './leader-election';
export { allInTurns, settleInTurns, slowStartBatch, type SlowStartResult } from './slow-start';
export { ControllerExpectations } from './expectations';
export { claimChildren, controllerRefOf, type ClaimOptions } from './controller-ref';
