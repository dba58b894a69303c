import { withExtraFlags } from './extra-config';
import { network, type ClusterLayout } from './layout';
import type { ClusterOptions, OptionalComponent } from '../options';

/** One component to start: an app, the name of this instance, and its command line. */
export interface ComponentSpec {
  app: 'apiserver' | OptionalComponent;
  /** Unique in the cluster, e.g. `kubelet-node-1`; names its log file. */
  instance: string;
  argv: string[];
}

/** Where components listen and how they are reached: on one machine, or each in a container of its own. */
export interface Site {
  /** Address that Pods and nodes know the API server by. */
  advertiseAddress: string;
  /** `RANGE=ADDRESS` where node addresses are emulated and stand for a real address. */
  hostAlias?: string;
  /** Range of real addresses that Pods may reach besides the cluster's own (the containers' network). */
  reachableRange?: string;
  /** Real address that a node's parts listen on for other machines. */
  nodeBindAddress: string;
  /** 0: any, published in the Node object. */
  kubeletPort: number;
  /** Of the scheduler's debug endpoints, on its own loopback. 0: any, which it says when it is ready. */
  schedulerDebugPort: number;
  dns: { bindAddress: string; port: number };
  /** Components can reach each other's sockets: they are on one machine. */
  sharesSockets: boolean;
}

/** Where a scheduler that has a host of its own serves its debug endpoints (the port that old schedulers used). */
export const schedulerDebugPort = 10251;

/** All components on this machine, on loopback; nodes have emulated addresses. */
export const localSite: Site = {
  advertiseAddress: network.controlPlaneAddress,
  hostAlias: `${network.underlayCIDR}=127.0.0.1`,
  nodeBindAddress: '127.0.0.1',
  kubeletPort: 0,
  schedulerDebugPort: 0,
  dns: { bindAddress: '127.0.0.1', port: 0 },
  sharesSockets: true,
};

export interface SpecContext {
  layout: ClusterLayout;
  site: Site;
  options: Pick<ClusterOptions, 'bind' | 'storage' | 'verbosity' | 'genericImages' | 'images'>;
}

const aliasFlags = (site: Site): string[] => (site.hostAlias ? [`--host-alias=${site.hostAlias}`] : []);

export function apiserverSpec({ layout, site, options }: SpecContext, port: number): ComponentSpec {
  return {
    app: 'apiserver',
    instance: 'apiserver',
    argv: [
      `--bind-address=${options.bind}`,
      `--secure-port=${port}`,
      `--advertise-address=${site.advertiseAddress}`,
      `--storage=${options.storage}`,
      `--client-ca-file=${layout.pki('ca.crt')}`,
      `--tls-cert-file=${layout.pki('apiserver.crt')}`,
      `--tls-private-key-file=${layout.pki('apiserver.key')}`,
      `--service-account-issuer=https://kubernetes.default.svc.${network.clusterDomain}`,
      `--service-account-key-file=${layout.pki('sa.pub')}`,
      `--service-account-signing-key-file=${layout.pki('sa.key')}`,
      `--kubelet-client-certificate=${layout.pki('apiserver-kubelet-client.crt')}`,
      `--kubelet-client-key=${layout.pki('apiserver-kubelet-client.key')}`,
      `--proxy-client-cert-file=${layout.pki('front-proxy-client.crt')}`,
      `--proxy-client-key-file=${layout.pki('front-proxy-client.key')}`,
      `--requestheader-client-ca-file=${layout.pki('front-proxy-ca.crt')}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--authorization-mode=Node,RBAC',
      '--enable-bootstrap-token-auth',
      '--enable-admission-plugins=NodeRestriction',
      '--metrics-api',
      `--service-cluster-ip-range=${network.serviceCIDR}`,
      ...watchedComponents.map(({ name, port }) => {
        // A container's name is its role.
        const url = site.sharesSockets
          ? `unix:${layout.healthSocket(name)}`
          : `http://${name}:${port}/healthz`;
        return `--component-health=${name}=${url}`;
      }),
      ...aliasFlags(site),
      `--v=${options.verbosity}`,
    ],
  };
}

/** Those that componentstatuses shows, with upstream's ports. */
const watchedComponents = [
  { name: 'controller-manager', port: 10257 },
  { name: 'scheduler', port: 10259 },
] as const;
const [controllerManagerHealth, schedulerHealth] = watchedComponents;

/**
 * Health is served at a socket: ports are for the whole machine, and there may be other clusters on it. Who has a host
 * of its own serves it at the port.
 */
function healthFlags(
  { layout, site }: SpecContext,
  { name, port }: (typeof watchedComponents)[number],
): string[] {
  return site.sharesSockets
    ? ['--secure-port=0', `--bind-address=unix:${layout.healthSocket(name)}`]
    : [`--secure-port=${port}`, '--bind-address=0.0.0.0'];
}

export function controllerManagerSpec(context: SpecContext): ComponentSpec {
  const { layout, options } = context;
  return {
    app: 'controller-manager',
    instance: 'controller-manager',
    argv: [
      `--kubeconfig=${layout.componentKubeconfig('controller-manager')}`,
      '--allocate-node-cidrs',
      `--cluster-cidr=${network.clusterCIDR}`,
      `--cluster-signing-cert-file=${layout.pki('ca.crt')}`,
      `--cluster-signing-key-file=${layout.pki('ca.key')}`,
      `--root-ca-file=${layout.pki('ca.crt')}`,
      `--service-account-private-key-file=${layout.pki('sa.key')}`,
      '--use-service-account-credentials',
      // A sync mostly waits for the disk of the API server: more at once cost nothing.
      ...['deployment', 'replicaset', 'job'].map((kind) => `--concurrent-${kind}-syncs=20`),
      `--hostpath-csi-state-dir=${layout.volumesDir}`,
      '--leader-elect=false',
      ...healthFlags(context, controllerManagerHealth),
      `--v=${options.verbosity}`,
    ],
  };
}

export function schedulerSpec(context: SpecContext): ComponentSpec {
  const { layout, options, site } = context;
  return {
    app: 'scheduler',
    instance: 'scheduler',
    argv: [
      `--kubeconfig=${layout.componentKubeconfig('scheduler')}`,
      '--leader-elect=false',
      ...healthFlags(context, schedulerHealth),
      // `tinkernetes explain` asks there; the port is in what the scheduler says when it is ready.
      `--debug-port=${site.schedulerDebugPort}`,
      `--v=${options.verbosity}`,
    ],
  };
}

export function clusterDnsSpec({ layout, site, options }: SpecContext): ComponentSpec {
  return {
    app: 'cluster-dns',
    instance: 'cluster-dns',
    argv: [
      `--kubeconfig=${layout.componentKubeconfig('cluster-dns')}`,
      `--cluster-domain=${network.clusterDomain}`,
      `--bind-address=${site.dns.bindAddress}`,
      `--port=${site.dns.port}`,
      `--v=${options.verbosity}`,
    ],
  };
}

export interface NodePlace {
  name: string;
  /** The Node's InternalIP. */
  address: string;
}

/** One node: its runtime ("kernel" included), its agent, its proxy. */
export function nodeSpecs({ layout, site, options }: SpecContext, node: NodePlace): ComponentSpec[] {
  const verbosity = `--v=${options.verbosity}`;
  const dir = layout.nodeDir(node.name);
  const vnet = `unix://${layout.vnetSocket(node.name)}`;
  const cri = `unix://${layout.criSocket(node.name)}`;
  return [
    {
      app: 'mock-runtime',
      instance: `mock-runtime-${node.name}`,
      argv: [
        `--listen=${cri}`,
        `--vnet-listen=${vnet}`,
        `--root-dir=${dir}/runtime`,
        `--node-name=${node.name}`,
        `--node-address=${node.address}`,
        `--overlay-bind-address=${site.nodeBindAddress}`,
        ...aliasFlags(site),
        ...(site.reachableRange ? [`--host-alias=${site.reachableRange}`] : []),
        `--cni-conf-dir=${dir}/cni/net.d`,
        `--cni-bin-dir=${dir}/cni/bin`,
        `--csi-listen=unix://${layout.csiSocket(node.name)}`,
        `--csi-state-dir=${layout.volumesDir}`,
        `--csi-registration-dir=${dir}/kubelet/plugins_registry`,
        ...(options.genericImages ? ['--generic-images'] : []),
        ...(options.images ? [`--images=${options.images}`] : []),
        verbosity,
      ],
    },
    {
      app: 'kubelet',
      instance: `kubelet-${node.name}`,
      argv: [
        `--bootstrap-kubeconfig=${layout.componentKubeconfig('bootstrap-kubelet')}`,
        `--kubeconfig=${dir}/kubelet/kubeconfig`,
        `--cert-dir=${dir}/kubelet/pki`,
        `--root-dir=${dir}/kubelet`,
        `--hostname-override=${node.name}`,
        `--node-ip=${node.address}`,
        `--container-runtime-endpoint=${cri}`,
        `--vnet-endpoint=${vnet}`,
        `--address=${site.nodeBindAddress}`,
        `--port=${site.kubeletPort}`,
        `--client-ca-file=${layout.pki('ca.crt')}`,
        `--cluster-dns=${network.dnsServiceIP}`,
        // As kind does: a user's full disk is no reason to end Pods that hardly use it.
        '--eviction-hard=memory.available<100Mi',
        '--image-gc-high-threshold=100',
        `--cluster-domain=${network.clusterDomain}`,
        verbosity,
      ],
    },
    {
      app: 'kube-proxy',
      instance: `kube-proxy-${node.name}`,
      argv: [
        `--kubeconfig=${layout.componentKubeconfig('kube-proxy')}`,
        `--hostname-override=${node.name}`,
        `--vnet-endpoint=${vnet}`,
        verbosity,
      ],
    },
  ];
}

/** Everything but the API server for a cluster on this machine, without what the user leaves out. */
export function allSpecs(
  context: SpecContext,
  options: Pick<ClusterOptions, 'nodes' | 'without' | 'extraConfig'>,
): ComponentSpec[] {
  const nodes = Array.from({ length: options.nodes }, (_, i) =>
    nodeSpecs(context, { name: `node-${i + 1}`, address: network.nodeAddress(i + 1) }),
  );
  return [controllerManagerSpec(context), schedulerSpec(context), clusterDnsSpec(context), ...nodes.flat()]
    .filter((spec) => spec.app === 'apiserver' || !options.without.has(spec.app))
    .map((spec) => withExtraFlags(spec, options.extraConfig));
}
