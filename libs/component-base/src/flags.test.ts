import { parseDuration, parseFlags, usage, UsageError, type FlagSpec } from './flags';

const specs = {
  kubeconfig: { type: 'string', help: 'How to reach the API server' },
  'proxy-mode': { type: 'string', default: 'iptables', choices: ['iptables', 'userspace'], help: 'Mode' },
  port: { type: 'number', default: 0, min: 0, max: 65_535, help: 'Port' },
  'leader-elect': { type: 'boolean', default: true, help: 'Elect' },
  controllers: { type: 'list', default: ['*'], help: 'Controllers' },
  'sync-frequency': { type: 'duration', default: 60_000, help: 'Period' },
  v: { type: 'number', short: 'v', help: 'Verbosity' },
} as const satisfies Record<string, FlagSpec>;

describe('parseFlags', () => {
  it('gives defaults for what is left out', () => {
    expect(parseFlags(specs, [])).toEqual({
      kubeconfig: undefined,
      'proxy-mode': 'iptables',
      port: 0,
      'leader-elect': true,
      controllers: ['*'],
      'sync-frequency': 60_000,
      v: undefined,
    });
  });

  it.each<[string[], Partial<Record<keyof typeof specs, unknown>>]>([
    [['--kubeconfig=/a=b'], { kubeconfig: '/a=b' }],
    [['--kubeconfig', '/a'], { kubeconfig: '/a' }],
    [['--leader-elect=false'], { 'leader-elect': false }],
    [['--leader-elect'], { 'leader-elect': true }],
    [['--port=6443', '--port=7443'], { port: 7443 }],
    [['--controllers=a,b', '--controllers=c'], { controllers: ['a', 'b', 'c'] }],
    [['--sync-frequency=1m30s'], { 'sync-frequency': 90_000 }],
    [['-v', '3'], { v: 3 }],
  ])('reads %j', (argv, expected) => {
    expect(parseFlags(specs, argv)).toMatchObject(expected);
  });

  it.each<[string[], string]>([
    [['--kubeconfi=x'], 'unknown flag: --kubeconfi. Did you mean --kubeconfig?'],
    [['--nonsense-flag'], 'unknown flag: --nonsense-flag. Use --help for the list.'],
    [['stray'], 'unexpected argument "stray": flags look like --name=value'],
    [['--port=abc'], 'invalid value "abc" for --port: must be a whole number'],
    [['--port=70000'], 'invalid value "70000" for --port: must be at most 65535'],
    [['--port=-1'], 'invalid value "-1" for --port: must be at least 0'],
    [['--leader-elect=maybe'], 'invalid value "maybe" for --leader-elect: must be true or false'],
    [['--proxy-mode=ipvs'], 'invalid value "ipvs" for --proxy-mode: must be one of iptables, userspace'],
    [
      ['--sync-frequency=10'],
      'invalid value "10" for --sync-frequency: must be a duration such as 10s or 1m30s',
    ],
    [['--kubeconfig'], 'flag needs an argument: --kubeconfig'],
  ])('says what is wrong with %j', (argv, message) => {
    expect(() => parseFlags(specs, argv)).toThrow(new UsageError(message));
  });
});

it.each([
  ['0', 0],
  ['500ms', 500],
  ['1h2m3.5s', 3_723_500],
  ['-5s', -5000],
  ['10us', 0.01],
  ['5', undefined],
  ['s', undefined],
  ['', undefined],
])('reads the Go duration %j as %p ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it('shows names, help and defaults', () => {
  const text = usage('kube-proxy', 'Keeps rules.', specs);
  expect(text).toMatch(/^Keeps rules\.\n\nUsage:\n {2}kube-proxy \[flags\]/);
  expect(text).toMatch(/--proxy-mode +Mode \(default iptables\)/);
  expect(text).toMatch(/--sync-frequency +Period \(default 60000ms\)/);
});
