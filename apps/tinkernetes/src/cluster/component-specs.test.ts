import {
  apiserverSpec,
  controllerManagerSpec,
  localSite,
  schedulerSpec,
  type SpecContext,
} from './component-specs';
import { ClusterLayout } from './layout';

describe('the health of the scheduler and the controller manager', () => {
  const contextOf = (sharesSockets: boolean): SpecContext => ({
    layout: new ClusterLayout('/cluster'),
    site: { ...localSite, sharesSockets },
    options: { bind: '0.0.0.0', storage: 'memory', verbosity: 0, genericImages: false, images: undefined },
  });
  const asked = (context: SpecContext) =>
    apiserverSpec(context, 6443).argv.filter((flag) => flag.startsWith('--component-health='));
  const served = (context: SpecContext) =>
    [controllerManagerSpec(context), schedulerSpec(context)].map(({ argv }) =>
      argv.filter((flag) => /^--(secure-port|bind-address)=/.test(flag)),
    );

  it('is asked of their sockets on one machine, which opens no ports', () => {
    const context = contextOf(true);
    const sockets = ['controller-manager', 'scheduler'].map((name) => context.layout.healthSocket(name));
    expect(asked(context)).toEqual([
      `--component-health=controller-manager=unix:${sockets[0]}`,
      `--component-health=scheduler=unix:${sockets[1]}`,
    ]);
    expect(served(context)).toEqual(
      sockets.map((socket) => ['--secure-port=0', `--bind-address=unix:${socket}`]),
    );
  });

  it('is asked of their containers where each has its own, at the ports that they serve', () => {
    const context = contextOf(false);
    expect(asked(context)).toEqual([
      '--component-health=controller-manager=http://controller-manager:10257/healthz',
      '--component-health=scheduler=http://scheduler:10259/healthz',
    ]);
    expect(served(context)).toEqual([
      ['--secure-port=10257', '--bind-address=0.0.0.0'],
      ['--secure-port=10259', '--bind-address=0.0.0.0'],
    ]);
  });
});
