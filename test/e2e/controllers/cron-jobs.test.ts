import { useCluster } from '../../harness/cluster-fixture';
import { job } from '../../harness/workloads';

const { run, attempt, apply, read, until } = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=kube-proxy,cluster-dns',
]);
const cronJob = (name: string, schedule: string, spec: object = {}, command = 'true') => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name },
  spec: { schedule, jobTemplate: { spec: job(name, command).spec }, ...spec },
});
const jobsOf = async (name: string) =>
  (await read('jobs', '{range .items[*]}{.metadata.ownerReferences[0].name}={.metadata.name} {end}'))
    .split(' ')
    .filter((entry) => entry.startsWith(`${name}=`))
    .map((entry) => entry.slice(name.length + 1));
const events = async (name: string) =>
  (
    await read(
      `events --field-selector involvedObject.name=${name}`,
      '{range .items[*]}{.reason}: {.message}{"\\n"}{end}',
    )
  ).split('\n');
/** As if it had been made, and last started a Job, long ago. */
const lastStarted = (name: string, time: string) =>
  run([
    'patch',
    'cronjob',
    name,
    '--subresource=status',
    '--type=merge',
    '-p',
    `{"status":{"lastScheduleTime":"${time}"}}`,
  ]);
const isOver = (name: string) => run(`wait --for=condition=complete job/${name} --timeout=120s`);

it('starts what it missed, once, at the last time of its time zone that is due', async () => {
  await apply(cronJob('yearly', '0 12 1 1 *', { timeZone: 'Asia/Tokyo' }));
  await lastStarted('yearly', '2020-06-01T00:00:00Z');
  const [name = ''] = await until(async () => {
    const list = await jobsOf('yearly');
    expect(list).toHaveLength(1);
    return list;
  });
  await isOver(name);
  const at = await read('cronjob/yearly', '{.status.lastScheduleTime}');
  expect(at).toMatch(/^\d{4}-01-01T03:00:00Z$/);
  expect(name).toBe(`yearly-${Date.parse(at) / 60_000}`);
  const told = String.raw`{.metadata.annotations.batch\.kubernetes\.io/cronjob-scheduled-timestamp}`;
  expect(await read(`job/${name}`, told)).toBe(`${at.slice(0, 4)}-01-01T12:00:00+09:00`);
  await until(async () => {
    expect(await events('yearly')).toEqual(
      expect.arrayContaining([
        `SuccessfulCreate: Created job ${name}`,
        `SawCompletedJob: Saw completed job: ${name}, condition: Complete`,
      ]),
    );
    expect(await read('cronjob/yearly', '{.status.active}')).toBe('');
  });
});

it('misses what is due for too long, and warns of very much that was missed', async () => {
  await apply(cronJob('late', '0 0 1 1 *', { startingDeadlineSeconds: 10 }), cronJob('often', '* * * * *'));
  await lastStarted('late', '2020-06-01T00:00:00Z');
  await lastStarted('often', '2020-06-01T00:00:00Z');
  await until(async () => expect(await jobsOf('often')).not.toEqual([]));
  expect(await events('often')).toContain(
    'TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
  );
  expect(await jobsOf('late')).toEqual([]);
  await run('delete cronjob often late');
});

it('lets Jobs overlap, starts none beside another, or replaces the one that runs', async () => {
  const policy = (concurrencyPolicy: string) =>
    cronJob(concurrencyPolicy.toLowerCase(), '0 0 1 1 *', { concurrencyPolicy }, 'sleep 3600');
  const names = ['allow', 'forbid', 'replace'];
  await apply(policy('Allow'), policy('Forbid'), policy('Replace'));
  for (const name of names) await lastStarted(name, '2020-06-01T00:00:00Z');
  const first = new Map<string, string>();
  for (const name of names) {
    const [made = ''] = await until(async () => {
      const list = await jobsOf(name);
      expect(list).toHaveLength(1);
      return list;
    });
    first.set(name, made);
    // Due a second time, at another time of the year.
    await run(['patch', 'cronjob', name, '-p', '{"spec":{"schedule":"0 0 1 2 *"}}']);
    await lastStarted(name, '2020-06-01T00:00:00Z');
  }
  await until(async () => {
    expect(await jobsOf('allow')).toHaveLength(2);
    const [replaced, ...more] = await jobsOf('replace');
    expect([replaced === first.get('replace'), more]).toEqual([false, []]);
    expect(await events('forbid')).toContain(
      'JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid',
    );
  });
  expect(await jobsOf('forbid')).toEqual([first.get('forbid')]);
  expect(await events('replace')).toContain(`SuccessfulDelete: Deleted job ${first.get('replace')}`);
  await run('delete cronjob allow forbid replace');
  await until(async () => expect(await jobsOf('allow')).toEqual([]));
});

it('keeps as many Jobs as it is to, of either end', async () => {
  const limits = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 };
  await apply(cronJob('history', '@every 1s', limits));
  await until(async () => expect(await read('cronjob/history', '{.status.lastSuccessfulTime}')).not.toBe(''));
  await run(['patch', 'cronjob', 'history', '-p', '{"spec":{"suspend":true}}']);
  const id = await read('cronjob/history', '{.metadata.uid}');
  const ownerReferences = [
    { apiVersion: 'batch/v1', kind: 'CronJob', name: 'history', uid: id, controller: true },
  ];
  const owned = (name: string, command: string) => {
    const made = job(name, command, { backoffLimit: 0 });
    return { ...made, metadata: { ...made.metadata, ownerReferences } };
  };
  await apply(owned('fine-1', 'true'), owned('fine-2', 'true'), owned('failed', 'exit 1'));
  // Which of them it is depends on the second in which each started.
  await until(async () => expect(await jobsOf('history')).toEqual([expect.not.stringMatching('failed')]));
});

it('starts nothing while it is suspended, and something by hand', async () => {
  await apply(cronJob('rests', '@every 1s', { suspend: true }), cronJob('runs', '@every 1s'));
  await until(async () => expect(await jobsOf('runs')).not.toEqual([]));
  expect(await jobsOf('rests')).toEqual([]);
  await run('create job by-hand --from=cronjob/rests');
  await isOver('by-hand');
  expect(
    await read('job/by-hand', String.raw`{.metadata.annotations.cronjob\.kubernetes\.io/instantiate}`),
  ).toBe('manual');
  await run('delete cronjob runs rests');
});

it('refuses what it cannot read, and says of a time that never comes that it is none', async () => {
  const refused = async (schedule: string, spec?: object) =>
    (await attempt('create -f -', JSON.stringify(cronJob('bad', schedule, spec)))).stderr;
  expect(await refused('every day')).toContain(
    'spec.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: [every day]',
  );
  expect(await refused('TZ=UTC 0 0 * * *')).toContain(
    'cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
  );
  expect(await refused('0 0 * * *', { timeZone: 'Moon/Crater' })).toContain(
    'spec.timeZone: Invalid value: "Moon/Crater": unknown time zone Moon/Crater',
  );
  await apply(cronJob('never', '0 0 31 2 *'));
  await until(async () =>
    expect(await events('never')).toEqual([
      'InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
    ]),
  );
});
