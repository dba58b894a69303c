import type { CreateSubresourceHandlers } from '../contracts';
import { KubeletConnections } from './kubelet-connection';
import { createNodeProxy } from './node-proxy';
import { createPodLogHandler } from './pod-log';
import { createPodProxy } from './pod-proxy';
import { createPodStreamHandlers } from './pod-streams';
import { createServiceProxy } from './service-proxy';

/** What is passed on to kubelets, Pods and Services. */
export const createProxyHandlers: CreateSubresourceHandlers = (deps) => {
  const kubelets = new KubeletConnections(deps);
  return new Map([
    ...createPodStreamHandlers(deps, kubelets),
    ['/pods/log', createPodLogHandler(deps, kubelets)],
    ['/nodes/proxy', createNodeProxy(deps, kubelets)],
    ['/pods/proxy', createPodProxy(deps, kubelets)],
    ['/services/proxy', createServiceProxy(deps, kubelets)],
  ]);
};
