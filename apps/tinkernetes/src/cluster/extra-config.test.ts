import { UsageError } from '@tinkernetes/component-base';
import type { ComponentSpec } from './component-specs';
import { parseExtraConfig, withExtraFlags } from './extra-config';

const kubelet: ComponentSpec = {
  app: 'kubelet',
  instance: 'kubelet-node-1',
  argv: ['--root-dir=/k', '--eviction-hard=memory.available<100Mi', '--v=0'],
};

it.each([
  ['of its app', ['kubelet.max-pods=5'], [...kubelet.argv, '--max-pods=5']],
  ['of itself', ['kubelet-node-1.max-pods=5'], [...kubelet.argv, '--max-pods=5']],
  ['not of others', ['kubelet-node-2.max-pods=5', 'scheduler.v=4'], kubelet.argv],
  ['in place of its own', ['kubelet.v=4'], [...kubelet.argv.slice(0, 2), '--v=4']],
  [
    'several of a name',
    ['kubelet.eviction-hard=pid.available<5%', 'kubelet.eviction-hard=nodefs.available<1Mi'],
    ['--root-dir=/k', '--v=0', '--eviction-hard=pid.available<5%', '--eviction-hard=nodefs.available<1Mi'],
  ],
  [
    'its own before its app’s',
    ['kubelet-node-1.max-pods=5', 'kubelet.max-pods=7'],
    [...kubelet.argv, '--max-pods=5'],
  ],
])('gives a component the flags %s', (_, texts, expected) => {
  expect(withExtraFlags(kubelet, parseExtraConfig(texts, 2)).argv).toEqual(expected);
});

it.each(['kubelet', 'kubelet.max-pods', '.max-pods=1', 'max-pods=1', 'kublet.v=1', 'kubelet-node-9.v=1'])(
  'refuses %s',
  (text) => {
    expect(() => parseExtraConfig([text], 3)).toThrow(UsageError);
  },
);

it('gives a component that there is once its flag once', () => {
  const spec: ComponentSpec = { app: 'scheduler', instance: 'scheduler', argv: [] };
  expect(withExtraFlags(spec, parseExtraConfig(['scheduler.v=4'], 1)).argv).toEqual(['--v=4']);
});
