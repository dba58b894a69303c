import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FinishedStep, Logger, Run, StepTracer } from '@tinkernetes/component-base';
import { addImageService, addRuntimeService, createCriServer, listen } from '@tinkernetes/cri';
import type { CsiServer } from '@tinkernetes/csi';
import { PodNetwork } from './containers/pod-network';
import { RuntimeState } from './containers/runtime-state';
import { imageService } from './cri/image-service';
import { PodMetrics } from './cri/pod-metrics';
import { runtimeService } from './cri/runtime-service';
import { Stats } from './cri/stats';
import { StreamingServer } from './cri/streaming-server';
import { catalogue } from './images/catalogue';
import { loadImages } from './images/user-images';
import { ImageStore } from './images/image-store';
import { Registry } from './images/registry';
import { HostAliases } from './network/host-aliases';
import { NetworkState } from './network/network-state';
import { NodeNetwork } from './network/node-network';
import { serveVnet } from './network/vnet-server';
import type { MockRuntimeOptions } from './options';

/** One node's runtime: its network first, then its images and containers, then the two sockets. */
export const run: Run<MockRuntimeOptions> = async (options, context) => {
  const { clock, random, logger, tracer, signal } = context;
  const { rootDir, nodeName } = options;
  mkdirSync(rootDir, { recursive: true });
  // Before anything is open that would have to be closed again: the file may be wrong.
  const ownImages = options.images ? await loadImages(options.images, clock) : [];
  const network = new NodeNetwork({
    nodeName,
    nodeAddress: options.nodeAddress,
    overlayBindAddress: options.overlayBindAddress,
    aliases: new HostAliases(options.hostAliases),
    clock,
    random,
    logger,
    state: new NetworkState(rootDir, logger),
  });
  await network.start();
  const podNetwork = new PodNetwork({
    rootDir,
    confDir: options.cniConfDir,
    binDir: options.cniBinDir,
    nodeName,
    network,
    random,
    logger,
    tracer,
  });
  const images = new ImageStore({
    file: join(rootDir, 'images.jsonl'),
    registry: new Registry([...catalogue, ...ownImages]),
    clock,
    logger,
    genericImages: options.genericImages,
  });
  images.load();
  await podNetwork.reload();
  const state = new RuntimeState({ rootDir, clock, random, logger, tracer, network, podNetwork, images });
  state.load();
  await podNetwork.collectGarbage([...state.sandboxes.keys()]);

  const stats = new Stats(state, network, { clock, imageDir: rootDir });
  const metrics = new PodMetrics(state, network, { stats, clock });
  const streaming = new StreamingServer(state, network, { random, logger });
  const server = createCriServer();
  const steps = { finishedSteps: collectSteps(tracer) };
  addRuntimeService(
    server,
    runtimeService({ state, podNetwork, streaming, stats, metrics, clock, tracer, nodeName }),
    steps,
  );
  addImageService(server, imageService(images, stats, { tracer, nodeName }), steps);
  for (const endpoint of [options.listen, options.vnetListen]) makeRoomFor(endpoint);
  const [vnet] = await Promise.all([serveVnet(network, options.vnetListen), listen(server, options.listen)]);
  logger.info(
    { node: nodeName, cri: options.listen, overlay: network.info().overlayEndpoint },
    'runtime serves',
  );
  context.ready({ overlayEndpoint: network.info().overlayEndpoint });
  const storage = serveStorage(options, logger);

  if (!signal.aborted) await once(signal, 'abort');
  server.forceShutdown();
  (await storage)?.close();
  vnet.forceShutdown();
  await streaming.stop();
  await state.stop();
  images.close();
  podNetwork.stop();
  network.stop();
};

/** The node's half of the CSI driver, once the runtime serves: no container waits for it at the start. */
async function serveStorage(
  { csi, nodeName }: MockRuntimeOptions,
  logger: Logger,
): Promise<CsiServer | undefined> {
  if (!csi) return undefined;
  const { listen: endpoint, stateDir, registrationDir, perNode } = csi;
  try {
    const { serveHostPathNode } = await import('@tinkernetes/csi');
    return await serveHostPathNode({ endpoint, stateDir, registrationDir, perNode, nodeId: nodeName });
  } catch (error) {
    logger.error({ err: error, endpoint }, 'the CSI driver does not serve: its volumes can not be mounted');
    return undefined;
  }
}

/** Steps recorded since the last time, for the trailers of traced calls: the kubelet passes them on. */
function collectSteps(tracer: StepTracer): () => Promise<readonly FinishedStep[]> {
  const finished: FinishedStep[] = [];
  tracer.exportTo((steps) => {
    finished.push(...steps);
    return Promise.resolve();
  });
  return async () => {
    await tracer.flush();
    return finished.splice(0);
  };
}

/** A socket file that a killed runtime left behind is in the way of the next one. */
function makeRoomFor(endpoint: string): void {
  const path = endpoint.slice('unix://'.length);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
}
