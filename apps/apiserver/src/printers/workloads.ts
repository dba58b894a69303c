import type {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  PodSpec,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '@tinkernetes/api';
import { formatLabelSelector } from '@tinkernetes/apimachinery';
import { age, containerImages, containerNames, formatLabels } from './cells';
import { humanDuration, since } from './duration';

const containersOf = (spec: PodSpec | undefined): [string, string] => [
  containerNames(spec?.containers),
  containerImages(spec?.containers),
];

/** Name, Ready, Up-to-date, Available, Age, Containers, Images, Selector. */
export const deploymentCells = (deployment: Deployment, now: number): unknown[] => {
  const { status, spec } = deployment;
  return [
    deployment.metadata.name,
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    status?.updatedReplicas ?? 0,
    status?.availableReplicas ?? 0,
    age(deployment, now),
    ...containersOf(spec?.template?.spec),
    // Without a selector it selects nothing, which upstream writes as nothing here.
    spec?.selector ? formatLabelSelector(spec.selector) : '',
  ];
};

/** Name, Desired, Current, Ready, Age, Containers, Images, Selector. */
export const replicaSetCells = (set: ReplicaSet, now: number): unknown[] => [
  set.metadata.name,
  set.spec?.replicas ?? 0,
  set.status?.replicas ?? 0,
  set.status?.readyReplicas ?? 0,
  age(set, now),
  ...containersOf(set.spec?.template?.spec),
  formatLabelSelector(set.spec?.selector),
];

export const replicationControllerCells = (controller: ReplicationController, now: number): unknown[] => [
  controller.metadata.name,
  controller.spec?.replicas ?? 0,
  controller.status?.replicas ?? 0,
  controller.status?.readyReplicas ?? 0,
  age(controller, now),
  ...containersOf(controller.spec?.template?.spec),
  formatLabels(controller.spec?.selector),
];

/** Name, Desired, Current, Ready, Up-to-date, Available, Node Selector, Age, Containers, Images, Selector. */
export const daemonSetCells = (set: DaemonSet, now: number): unknown[] => {
  const { status, spec } = set;
  return [
    set.metadata.name,
    status?.desiredNumberScheduled ?? 0,
    status?.currentNumberScheduled ?? 0,
    status?.numberReady ?? 0,
    status?.updatedNumberScheduled ?? 0,
    status?.numberAvailable ?? 0,
    formatLabels(spec?.template?.spec?.nodeSelector),
    age(set, now),
    ...containersOf(spec?.template?.spec),
    formatLabelSelector(spec?.selector),
  ];
};

/** Name, Ready, Age, Containers, Images. */
export const statefulSetCells = (set: StatefulSet, now: number): unknown[] => [
  set.metadata.name,
  `${set.status?.readyReplicas ?? 0}/${set.spec?.replicas ?? 0}`,
  age(set, now),
  ...containersOf(set.spec?.template?.spec),
];

/** Name, Status, Completions, Duration, Age, Containers, Images, Selector. */
export const jobCells = (job: Job, now: number): unknown[] => [
  job.metadata.name,
  jobStatus(job),
  jobCompletions(job),
  jobDuration(job, now),
  age(job, now),
  ...containersOf(job.spec?.template?.spec),
  formatLabelSelector(job.spec?.selector),
];

function jobStatus(job: Job): string {
  const has = (type: string) => job.status?.conditions?.some((c) => c.type === type && c.status === 'True');
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

function jobCompletions({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration({ status }: Job, now: number): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return humanDuration(end - Date.parse(status.startTime));
}

/** Name, Schedule, Timezone, Suspend, Active, Last Schedule, Age, Containers, Images, Selector. */
export const cronJobCells = (job: CronJob, now: number): unknown[] => {
  const { spec, status } = job;
  const inner = spec?.jobTemplate?.spec;
  return [
    job.metadata.name,
    spec?.schedule ?? '',
    spec?.timeZone ?? '<none>',
    spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False',
    status?.active?.length ?? 0,
    status?.lastScheduleTime ? since(status.lastScheduleTime, now) : '<none>',
    age(job, now),
    ...containersOf(inner?.template?.spec),
    formatLabelSelector(inner?.selector),
  ];
};
