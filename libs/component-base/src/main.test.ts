import { once } from 'node:events';
import { UsageError } from './flags';
import { runMain, type MainOptions } from './main';
import type { Run } from './run-context';

const flags = { name: { type: 'string', default: 'x', help: 'A name' } } as const;

describe('runMain', () => {
  let out: string;
  let err: string;
  beforeEach(() => {
    out = '';
    err = '';
    // A test's process may itself be a child whose channel must stay open.
    jest.replaceProperty(process, 'connected', false);
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((out += String(text))));
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((err += String(text))));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    process.exitCode = undefined;
  });

  const main = (run: Run<{ name: string }>): MainOptions<typeof flags, { name: string }> => ({
    component: 'kube-test',
    description: 'Tests.',
    flags,
    options: ({ name }) => {
      if (name === 'bad') throw new UsageError('--name must not be bad');
      return { name };
    },
    run,
  });

  it('runs with its options and ends with code 0', async () => {
    const names: string[] = [];
    await runMain(
      main(async ({ name }, { ready }) => {
        ready({ port: 1 });
        names.push(name);
      }),
      ['--name=a'],
    );
    expect(names).toEqual(['a']);
    expect(process.exitCode).toBeUndefined();
  });

  it('shows its flags when asked for help, and does not run', async () => {
    const run = jest.fn();
    await runMain(main(run), ['--help']);
    expect(out).toContain('--name');
    expect(run).not.toHaveBeenCalled();
  });

  it.each([
    [['--nope'], 'kube-test: unknown flag: --nope. Did you mean --name?'],
    [['--name=bad'], 'kube-test: --name must not be bad'],
  ])('ends with code 2 and one clear line for %j', async (argv, line) => {
    const run = jest.fn();
    await runMain(main(run), argv);
    expect([process.exitCode, err.split('\n')[0]?.slice(0, 40)]).toEqual([2, line.slice(0, 40)]);
    expect(run).not.toHaveBeenCalled();
  });

  it.each([
    ['a failure', new Error('port busy'), 1],
    ['wrong usage found late', new UsageError('no such file'), 2],
  ])('ends with the right code after %s', async (_, error, code) => {
    await runMain(
      main(() => Promise.reject(error)),
      ['--v=0'],
    );
    expect(process.exitCode).toBe(code);
  });

  /** Emits the signal when the component runs; `afterStop` is the last that it does. */
  const stoppedBy = (emitted: 'SIGINT' | 'SIGTERM', afterStop = () => Promise.resolve()) =>
    runMain(
      main(async (_options, { signal }) => {
        const stopped = once(signal, 'abort');
        process.emit(emitted);
        await stopped;
        await afterStop();
      }),
      [],
    );

  it.each(['SIGINT', 'SIGTERM'] as const)('stops on %s and ends with code 0', async (signal) => {
    await stoppedBy(signal);
    expect(process.exitCode).toBeUndefined();
  });

  it.each([['--nope'], ['--name=bad']])('tells who started it what is wrong with %s', async (argument) => {
    const { send } = process;
    const sent: unknown[] = [];
    process.send = (message: unknown) => sent.push(message) > 0;
    try {
      await runMain(main(jest.fn()), [argument]);
    } finally {
      process.send = send;
    }
    const message = err.trim().replace('kube-test: ', '');
    expect(sent).toEqual([{ type: 'failed', message, exitCode: 2 }]);
  });

  it('takes an error that follows the stop for part of the stop', async () => {
    await stoppedBy('SIGTERM', () => Promise.reject(new Error('connection closed')));
    expect(process.exitCode).toBeUndefined();
  });

  it('does not run what is stopped while its options are read', async () => {
    const run = jest.fn();
    const running = runMain(main(run), []);
    process.emit('SIGTERM');
    await running;
    expect(run).not.toHaveBeenCalled();
    expect(process.exitCode).toBeUndefined();
  });
});
