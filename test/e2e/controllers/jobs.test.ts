import { useCluster } from '../../harness/cluster-fixture';
import { job } from '../../harness/workloads';

const { run, attempt, apply, read, until } = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=kube-proxy,cluster-dns',
]);
const ended = (name: string, condition: string) =>
  run(`wait --for=condition=${condition} job/${name} --timeout=120s`);
const status = (name: string, ...fields: string[]) =>
  read(`job/${name}`, fields.map((field) => `{.status.${field}}`).join(' '));
/** `Type Reason: message` of those that are true. */
const conditions = async (name: string) => {
  const each = '{range .status.conditions[?(@.status=="True")]}{.type} {.reason}: {.message}{"\\n"}{end}';
  return (await read(`job/${name}`, each)).split('\n');
};
const podsOf = (name: string, path = '{.items[*].metadata.name}') =>
  read(`pods -l batch.kubernetes.io/job-name=${name}`, path);
const isGone = (resource: string) =>
  until(async () => expect((await attempt(`get ${resource}`)).stderr).toContain('not found'));
const index = '$JOB_COMPLETION_INDEX';
const indexed = (completions: number, spec: object = {}) => ({
  completions,
  parallelism: completions,
  completionMode: 'Indexed',
  ...spec,
});
const rules = (...list: object[]) => ({ podFailurePolicy: { rules: list } });
const exits = (action: string, ...values: number[]) => ({
  action,
  onExitCodes: { operator: 'In', values },
});
const disrupted = {
  action: 'Ignore',
  onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }],
};

/** The Pods that some Jobs had at first. */
const firstPods = new Map<string, string>();
const first = (name: string) => firstPods.get(name);
// Replacements take ten seconds: they come while other tests run.
beforeAll(async () => {
  const stubborn = 'trap "" TERM; while :; do sleep 1; done';
  const pod = { spec: { terminationGracePeriodSeconds: 3600 } };
  await apply(
    job('evicted', 'trap "exit 1" TERM; while :; do sleep 1; done', {
      backoffLimit: 0,
      ...rules(disrupted),
    }),
    job('patient', stubborn, { podReplacementPolicy: 'Failed' }, pod),
    job('eager', stubborn, { podReplacementPolicy: 'TerminatingOrFailed' }, pod),
  );
  for (const name of ['evicted', 'patient', 'eager']) {
    await until(async () => expect(await status(name, 'ready')).toBe('1'));
    firstPods.set(name, await podsOf(name));
  }
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: first('evicted') } };
  const path = `/api/v1/namespaces/default/pods/${first('evicted')}/eviction`;
  await run(`create --raw ${path} -f -`, JSON.stringify(eviction));
  await run(`delete pod ${first('patient')} ${first('eager')} --wait=false`);
});

it('completes, and counts each Pod once by its finalizer', async () => {
  await apply(job('sums', 'true', { completions: 3, parallelism: 2 }));
  await ended('sums', 'complete');
  expect(await status('sums', 'succeeded', 'uncountedTerminatedPods')).toBe('3 {}');
  expect(await conditions('sums')).toEqual([
    'SuccessCriteriaMet CompletionsReached: Reached expected number of succeeded pods',
    'Complete CompletionsReached: Reached expected number of succeeded pods',
  ]);
  expect(await podsOf('sums', '{.items[*].metadata.finalizers}')).toBe('');
  const [event] = (
    await read('events --field-selector involvedObject.name=sums,reason=Completed', '{.items[*].message}')
  ).split('\n');
  expect(event).toBe('Job completed');
});

it('C25 (a) fails when more Pods have failed than it may, and (b) by restarts where Pods are restarted', async () => {
  await apply(
    job('tries', 'exit 1', { completions: 3, parallelism: 3, backoffLimit: 2 }),
    job('restarts', 'exit 1', { backoffLimit: 0 }, { restartPolicy: 'OnFailure' }),
  );
  const exceeded = 'BackoffLimitExceeded: Job has reached the specified backoff limit';
  for (const name of ['tries', 'restarts']) {
    await ended(name, 'failed');
    expect(await conditions(name)).toEqual([`FailureTarget ${exceeded}`, `Failed ${exceeded}`]);
  }
  expect(await status('tries', 'failed')).toBe('3');
  await until(async () => expect(await podsOf('restarts')).toBe(''));
});

it('C25 (c) ends at the first failure that its policy says so of, and refuses a policy for Pods that restart', async () => {
  await apply(job('policy', 'exit 42', rules(disrupted, exits('FailJob', 42))));
  await ended('policy', 'failed');
  const message = `Container main for pod default/${await podsOf('policy')} failed with exit code 42 matching FailJob rule at index 1`;
  expect(await conditions('policy')).toEqual([
    `FailureTarget PodFailurePolicy: ${message}`,
    `Failed PodFailurePolicy: ${message}`,
  ]);
  const restarting = job('bad', 'exit 42', rules(exits('FailJob', 42)), { restartPolicy: 'OnFailure' });
  expect((await attempt('create -f -', JSON.stringify(restarting))).stderr).toContain(
    'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
  );
});

it('C25 (e) fails an index alone that fails too often, or that its policy says so of', async () => {
  const script = `test ${index} = 2 && exit 1; exit 0`;
  await apply(
    job('each', script, indexed(4, { backoffLimitPerIndex: 0 })),
    job(
      'most',
      `exit ${index}`,
      indexed(3, { backoffLimitPerIndex: 5, maxFailedIndexes: 1, ...rules(exits('FailIndex', 1, 2)) }),
    ),
  );
  await ended('each', 'failed');
  expect(await status('each', 'completedIndexes', 'failedIndexes')).toBe('0,1,3 2');
  expect(await conditions('each')).toContain('Failed FailedIndexes: Job has failed indexes');
  await ended('most', 'failed');
  expect(await status('most', 'failedIndexes')).toBe('1,2');
  expect(await conditions('most')).toContain(
    'Failed MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes',
  );
});

it('C25 (f) changes its parallelism, its completions with it where it is elastic, and nothing of its template', async () => {
  await apply(job('elastic', 'sleep 3600', indexed(1)), job('fixed', 'sleep 3600', { completions: 2 }));
  await run(['patch', 'job', 'elastic', '-p', '{"spec":{"completions":3,"parallelism":3}}']);
  await until(async () => expect(await status('elastic', 'ready')).toBe('3'));
  await run(['patch', 'job', 'elastic', '-p', '{"spec":{"completions":1,"parallelism":1}}']);
  const running = '{range .items[*]}{.metadata.labels.batch\\.kubernetes\\.io/job-completion-index}{end}';
  await until(async () => expect(await podsOf('elastic', running)).toBe('0'));
  for (const spec of ['{"completions":3}', '{"template":{"spec":{"restartPolicy":"OnFailure"}}}'])
    expect((await attempt(['patch', 'job', 'fixed', '-p', `{"spec":${spec}}`])).stderr).toContain(
      'field is immutable',
    );
});

it('gives each Pod of an Indexed Job its number, and is done when its success policy is met', async () => {
  const script = `test ${index} = 0 || sleep 3600`;
  await apply(job('leader', script, indexed(3, { successPolicy: { rules: [{ succeededIndexes: '0' }] } })));
  await ended('leader', 'complete');
  expect(await conditions('leader')).toEqual([
    'SuccessCriteriaMet SuccessPolicy: Matched rules at index 0',
    'Complete SuccessPolicy: Matched rules at index 0',
  ]);
  expect(await status('leader', 'completedIndexes', 'succeeded')).toBe('0 1');
  await apply(job('named', `echo ${index} $(hostname)`, indexed(2)));
  await ended('named', 'complete');
  const logs = await run('logs -l batch.kubernetes.io/job-name=named');
  expect(logs.split('\n').sort()).toEqual(['', '0 named-0', '1 named-1']);
});

it('stops while it is suspended, and starts its time anew when it is resumed', async () => {
  await apply(job('pauses', 'sleep 3600', { parallelism: 2, activeDeadlineSeconds: 3600 }));
  await until(async () => expect(await status('pauses', 'active')).toBe('2'));
  await run(['patch', 'job', 'pauses', '-p', '{"spec":{"suspend":true}}']);
  await until(async () => {
    expect(await podsOf('pauses')).toBe('');
    expect(await conditions('pauses')).toEqual(['Suspended JobSuspended: Job suspended']);
    expect(await status('pauses', 'startTime', 'active')).toBe('');
  });
  await run(['patch', 'job', 'pauses', '-p', '{"spec":{"suspend":false}}']);
  await until(async () => expect(await status('pauses', 'active')).toBe('2'));
  await run(['patch', 'job', 'pauses', '-p', '{"spec":{"activeDeadlineSeconds":1}}']);
  await ended('pauses', 'failed');
  expect(await conditions('pauses')).toContain(
    'Failed DeadlineExceeded: Job was active longer than specified deadline',
  );
});

it('leaves alone what another controller manages, and deletes what has been done for long enough', async () => {
  await apply(
    job('foreign', 'true', { managedBy: 'depot.test/robot' }),
    job('brief', 'true', { ttlSecondsAfterFinished: 0 }),
  );
  await isGone('job brief');
  await until(async () => expect(await podsOf('brief')).toBe(''));
  expect(await read('job/foreign', '{.status}')).toBe('{}');
  expect(await podsOf('foreign')).toBe('');
});

it('C25 (d) replaces a Pod that was evicted, and counts it not', async () => {
  await until(async () => {
    expect(await podsOf('evicted')).not.toContain(first('evicted'));
    expect(await status('evicted', 'active', 'failed')).toBe('1');
  });
});

it('waits for the end of a Pod before it replaces it where only failed ones are replaced', async () => {
  await until(async () => expect(await status('eager', 'active', 'terminating')).toBe('1 1'));
  await until(async () => expect(await status('patient', 'active', 'terminating')).toBe('1'));
  expect(await podsOf('patient')).toBe(first('patient'));
  await run('delete job patient eager --wait=false');
  for (const name of ['patient', 'eager'])
    await run(`delete pod -l batch.kubernetes.io/job-name=${name} --force --grace-period=0`);
});
