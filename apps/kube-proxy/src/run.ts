import { createClient, loadKubeconfig } from '@tinkernetes/client';
import { linkSignals, serveHealth, type Run, type RunContext } from '@tinkernetes/component-base';
import { createSharedInformerFactory } from '@tinkernetes/informers';
import { createVnetClient } from '@tinkernetes/vnet';
import type { KubeProxyOptions } from './options';
import { PolicyAgent } from './policies/policy-agent';
import { Proxier } from './proxier';

/** One node's kube-proxy: Services and EndpointSlices in, the node's NAT rules and routes out. */
export const run: Run<KubeProxyOptions> = async (options, context) => {
  const { clock, random, logger, metrics, signal } = context;
  const client = createClient(await loadKubeconfig(options.kubeconfig, { userAgent: 'kube-proxy' }), {
    clock,
    metrics,
    loopback: context.loopback,
  });
  const vnet = createVnetClient(options.vnetEndpoint);
  const informers = createSharedInformerFactory({ client, clock, random, logger, signal });
  const proxier = new Proxier({ informers, vnet, clock, logger, metrics, signal }, options);
  // A signal of its own: each informer listens.
  const { signal: policySignal } = linkSignals(signal);
  const policies = new PolicyAgent(
    {
      informers: createSharedInformerFactory({ client, clock, random, logger, signal: policySignal }),
      services: informers,
      vnet,
      clock,
      logger,
      signal: policySignal,
    },
    options,
  );
  // A call that waits for the node's network must not keep the process from stopping.
  signal.addEventListener('abort', () => vnet.close(), { once: true });
  try {
    const servers = await serve(options, context, proxier);
    informers.start();
    await proxier.start();
    if (!signal.aborted) context.ready();
    await informers.stopped();
    await Promise.all([proxier.stopped(), policies.stopped(), ...servers]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    vnet.close();
    client.close();
  }
};

async function serve(
  { healthzAddress, metricsAddress }: KubeProxyOptions,
  { metrics, signal }: RunContext,
  proxier: Proxier,
): Promise<Promise<void>[]> {
  const addresses = [healthzAddress, metricsAddress].filter((a) => a !== undefined);
  const checks = { rules: () => proxier.checkHealth() };
  const servers = await Promise.all(
    addresses.map(({ host, port }) => serveHealth({ bindAddress: host, port, checks, metrics, signal })),
  );
  return servers.map((server) => server.stopped);
}
