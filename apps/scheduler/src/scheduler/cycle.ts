import type { Pod } from '@tinkernetes/api';
import type { CycleState } from '../framework/cycle-state';
import type { Framework } from '../framework/framework';
import type { Status } from '../framework/status';
import type { Diagnosis } from '../framework/types';
import type { QueuedPod } from '../queue/queued-pod';

/** One Pod's attempt, from the queue to the Binding. */
export interface Cycle {
  queued: QueuedPod;
  pod: Pod;
  framework: Framework;
  state: CycleState;
  startedAt: number;
}

/** Why a Pod has no node; `nominatedNode` undefined: the one that it has been promised stays. */
export type Failure = { status: Status; diagnosis: Diagnosis | undefined; nominatedNode: string | undefined };
