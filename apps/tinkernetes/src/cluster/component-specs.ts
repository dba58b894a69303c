import type { ClusterOptions } from '../options';
import { ClusterLayout, network, nodeName } from './layout';

/** One component to start: an app, the name of this instance, and its command line. */
export interface ComponentSpec {
  app:
    | 'apiserver'
    | 'controller-manager'
    | 'scheduler'
    | 'kubelet'
    | 'mock-runtime'
    | 'kube-proxy'
    | 'cluster-dns';
  /** Unique in the cluster, e.g. `kubelet-node-1`; names its log file. */
  instance: string;
  argv: string[];
}

const hostAlias = `--host-alias=${network.underlayCIDR}=127.0.0.1`;

export function apiserverSpec(layout: ClusterLayout, options: ClusterOptions, port: number): ComponentSpec {
  return {
    app: 'apiserver',
    instance: 'apiserver',
    argv: [
      `--bind-address=${options.bind}`,
      `--secure-port=${port}`,
      `--advertise-address=${network.controlPlaneAddress}`,
      `--storage=${options.storage}`,
      `--client-ca-file=${layout.pki('ca.crt')}`,
      `--tls-cert-file=${layout.pki('apiserver.crt')}`,
      `--tls-private-key-file=${layout.pki('apiserver.key')}`,
      `--service-account-issuer=https://kubernetes.default.svc.${network.clusterDomain}`,
      `--service-account-key-file=${layout.pki('sa.pub')}`,
      `--service-account-signing-key-file=${layout.pki('sa.key')}`,
      `--kubelet-client-certificate=${layout.pki('apiserver-kubelet-client.crt')}`,
      `--kubelet-client-key=${layout.pki('apiserver-kubelet-client.key')}`,
      '--authorization-mode=Node,RBAC',
      '--enable-bootstrap-token-auth',
      `--service-cluster-ip-range=${network.serviceCIDR}`,
      hostAlias,
      `--v=${options.verbosity}`,
    ],
  };
}

/** The control plane besides the API server, and what serves the whole cluster. */
export function clusterSpecs(layout: ClusterLayout, options: ClusterOptions): ComponentSpec[] {
  const verbosity = `--v=${options.verbosity}`;
  return [
    {
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
        '--leader-elect=false',
        '--secure-port=0',
        verbosity,
      ],
    },
    {
      app: 'scheduler',
      instance: 'scheduler',
      argv: [
        `--kubeconfig=${layout.componentKubeconfig('scheduler')}`,
        '--leader-elect=false',
        '--secure-port=0',
        verbosity,
      ],
    },
    {
      app: 'cluster-dns',
      instance: 'cluster-dns',
      argv: [
        `--kubeconfig=${layout.componentKubeconfig('cluster-dns')}`,
        `--cluster-domain=${network.clusterDomain}`,
        '--bind-address=127.0.0.1',
        '--port=0',
        verbosity,
      ],
    },
  ];
}

/** One node: its runtime ("kernel" included), its agent, its proxy. */
export function nodeSpecs(layout: ClusterLayout, options: ClusterOptions, index: number): ComponentSpec[] {
  const node = nodeName(index);
  const address = network.nodeAddress(index);
  const verbosity = `--v=${options.verbosity}`;
  const vnet = `unix://${layout.vnetSocket(node)}`;
  return [
    {
      app: 'mock-runtime',
      instance: `mock-runtime-${node}`,
      argv: [
        `--listen=unix://${layout.criSocket(node)}`,
        `--vnet-listen=${vnet}`,
        `--root-dir=${layout.nodeDir(node)}/runtime`,
        `--node-name=${node}`,
        `--node-address=${address}`,
        '--overlay-bind-address=127.0.0.1',
        hostAlias,
        `--cni-conf-dir=${layout.nodeDir(node)}/cni/net.d`,
        `--cni-bin-dir=${layout.nodeDir(node)}/cni/bin`,
        ...(options.genericImages ? ['--generic-images'] : []),
        verbosity,
      ],
    },
    {
      app: 'kubelet',
      instance: `kubelet-${node}`,
      argv: [
        `--bootstrap-kubeconfig=${layout.componentKubeconfig('bootstrap-kubelet')}`,
        `--kubeconfig=${layout.nodeDir(node)}/kubelet/kubeconfig`,
        `--cert-dir=${layout.nodeDir(node)}/kubelet/pki`,
        `--root-dir=${layout.nodeDir(node)}/kubelet`,
        `--hostname-override=${node}`,
        `--node-ip=${address}`,
        `--container-runtime-endpoint=unix://${layout.criSocket(node)}`,
        `--vnet-endpoint=${vnet}`,
        '--address=127.0.0.1',
        '--port=0',
        `--client-ca-file=${layout.pki('ca.crt')}`,
        `--cluster-dns=${network.dnsServiceIP}`,
        `--cluster-domain=${network.clusterDomain}`,
        verbosity,
      ],
    },
    {
      app: 'kube-proxy',
      instance: `kube-proxy-${node}`,
      argv: [
        `--kubeconfig=${layout.componentKubeconfig('kube-proxy')}`,
        `--hostname-override=${node}`,
        `--vnet-endpoint=${vnet}`,
        verbosity,
      ],
    },
  ];
}

/** Everything but the API server, without what the user leaves out. */
export function allSpecs(layout: ClusterLayout, options: ClusterOptions): ComponentSpec[] {
  const nodes = Array.from({ length: options.nodes }, (_, i) => nodeSpecs(layout, options, i + 1)).flat();
  return [...clusterSpecs(layout, options), ...nodes].filter(
    (spec) => spec.app === 'apiserver' || !options.without.has(spec.app),
  );
}
