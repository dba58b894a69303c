import { createClient, loadInClusterConfig, loadKubeconfig } from '@tinkernetes/client';
import { serveHealth, type Run } from '@tinkernetes/component-base';
import { createSharedInformerFactory } from '@tinkernetes/informers';
import type { ClusterDnsOptions } from './options';
import { createInformerView } from './records/informer-view';
import { ClusterResolver } from './records/resolver';
import { serveDNS } from './server/dns-server';
import { Forwarder } from './server/forwarder';
import { upstreamsOf } from './server/resolv-conf';
import { Responder } from './server/responder';

const userAgent = 'cluster-dns';

/** The cluster's name server: answers from Services, EndpointSlices and Namespaces, and forwards what it doesn't know. */
export const run: Run<ClusterDnsOptions> = async (options, context) => {
  const { clock, random, logger, metrics, signal } = context;
  const config = options.kubeconfig
    ? await loadKubeconfig(options.kubeconfig, { userAgent })
    : await loadInClusterConfig({ userAgent, env: process.env });
  const client = createClient(config, { clock, loopback: context.loopback });
  const informers = createSharedInformerFactory({ client, clock, random, logger, signal });
  const resolver = new ClusterResolver(createInformerView(informers), options.clusterDomain);
  const forwarder = new Forwarder(await upstreamsOf(options.forward), clock);
  const responder = new Responder({ resolver, forwarder, random, logger, signal });
  try {
    informers.start();
    await informers.waitForSync();
    const { bindAddress, port, healthPort } = options;
    const server = await serveDNS({
      bindAddress,
      port,
      respond: (message, transport) => responder.respond(message, transport),
      logger,
      signal,
    });
    const health = healthPort
      ? await serveHealth({ bindAddress, port: healthPort, metrics, signal })
      : undefined;
    context.ready({ port: server.port });
    await Promise.all([server.stopped, health?.stopped, informers.stopped()]);
  } catch (error) {
    if (!signal.aborted) throw error;
    await informers.stopped();
  } finally {
    client.close();
  }
};
