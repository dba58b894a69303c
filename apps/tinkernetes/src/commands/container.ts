import { resolvePtr } from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import { parseFlags, realClock, UsageError, type FlagSpec } from '@tinkernetes/component-base';
import {
  dnsAccessManifests,
  dnsManifests,
  networkPolicyAccessManifests,
  nodeBootstrapManifests,
  storageAccessManifests,
  storageManifests,
} from '../cluster/addons';
import { applyManifests, installOnce } from '../cluster/apply';
import {
  apiserverSpec,
  clusterDnsSpec,
  controllerManagerSpec,
  nodeSpecs,
  schedulerDebugPort,
  schedulerSpec,
  type ComponentSpec,
  type Site,
  type SpecContext,
} from '../cluster/component-specs';
import { adminClient } from '../cluster/credentials';
import { ClusterLayout } from '../cluster/layout';
import { readState } from '../cluster/state';
import { createProcessLauncher } from '../launcher/process-launcher';
import { Supervisor } from '../launcher/supervisor';
import type { ReadyInfo } from '../launcher/types';
import type { Command } from './command';

const roles = ['apiserver', 'controller-manager', 'scheduler', 'cluster-dns', 'node'] as const;
type Role = (typeof roles)[number];

const flags = {
  'data-dir': {
    type: 'string',
    default: '/cluster',
    help: 'Folder that `tinkernetes init` filled, shared by all containers',
  },
  'state-dir': {
    type: 'string',
    default: '/var/lib/tinkernetes',
    help: "This container's own state (nodes)",
  },
  storage: { type: 'string', default: 'redis://redis:6379', help: "The API server's storage" },
  'api-port': { type: 'number', default: 6443, min: 1, max: 65535, help: 'Port of the API server' },
  'node-name': {
    type: 'string',
    help: 'Name of the node (default: what its address is called on the network, e.g. kubelet-1)',
  },
  verbosity: { type: 'number', default: 0, min: 0, max: 10, help: 'Log verbosity, as klog -v' },
  'generic-images': { type: 'boolean', default: false, help: 'Let Pods use images that nobody defined' },
  images: { type: 'string', help: 'TypeScript or JavaScript file of images that you define' },
} as const satisfies Record<string, FlagSpec>;

/** The entry point of the container image: one component, or one whole node, among other containers. */
export const container: Command = {
  name: 'container',
  summary: `Run as one container of a cluster: ${roles.join(', ')}`,
  args: 'ROLE',
  flags,
  async run(argv) {
    const [role, ...rest] = argv;
    if (!roles.includes(role as Role)) throw new UsageError(`container needs a role: ${roles.join(', ')}`);
    const values = parseFlags(flags, rest);
    const layout = new ClusterLayout(values['data-dir'], values['state-dir']);
    const { address, cidr } = ownInterface();
    const context: SpecContext = {
      layout,
      site: containerSite(address, cidr),
      options: {
        bind: '0.0.0.0',
        storage: values.storage,
        verbosity: values.verbosity,
        genericImages: values['generic-images'],
        images: values.images,
      },
    };
    const supervisor = new Supervisor({
      launcher: createProcessLauncher({ layout, clock: realClock, output: 'inherit' }),
      clock: realClock,
      report: (line) => process.stderr.write(`${line}\n`),
      onReady: (spec, info) => publish(spec, { info, layout, address }),
    });
    const specs = await specsOf(role as Role, {
      context,
      address,
      apiPort: values['api-port'],
      nodeName: values['node-name'],
    });
    for (const spec of specs) void supervisor.start(spec);
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
    });
    await supervisor.stop();
  },
};

const containerSite = (address: string, cidr: string): Site => ({
  advertiseAddress: address,
  reachableRange: cidr,
  nodeBindAddress: address,
  kubeletPort: 10250,
  schedulerDebugPort,
  dns: { bindAddress: '0.0.0.0', port: 53 },
  sharesSockets: false,
});

interface RoleOptions {
  context: SpecContext;
  address: string;
  apiPort: number;
  nodeName: string | undefined;
}

async function specsOf(
  role: Role,
  { context, address, apiPort, nodeName }: RoleOptions,
): Promise<ComponentSpec[]> {
  switch (role) {
    case 'apiserver':
      return [apiserverSpec(context, apiPort)];
    case 'controller-manager':
      return [controllerManagerSpec(context)];
    case 'scheduler':
      return [schedulerSpec(context)];
    case 'cluster-dns':
      return [clusterDnsSpec(context)];
    case 'node':
      return nodeSpecs(context, { name: nodeName ?? (await networkName(address)), address });
  }
}

/** What only a running component knows, and others need, becomes part of the cluster. */
function publish(
  spec: ComponentSpec,
  { info, layout, address }: { info: ReadyInfo; layout: ClusterLayout; address: string },
): void {
  const work = async () => {
    const client = await adminClient(layout);
    if (spec.app === 'apiserver') {
      const state = await readState(layout);
      if (state)
        await applyManifests(client, [
          ...nodeBootstrapManifests(state.bootstrapToken),
          ...dnsAccessManifests(),
          ...networkPolicyAccessManifests(),
          ...storageAccessManifests(),
        ]);
      await installOnce(client, 'tinkernetes-storage', storageManifests());
    }
    if (spec.app === 'cluster-dns')
      await applyManifests(client, dnsManifests({ address, port: Number(info.port) }));
    client.close();
  };
  work().catch((error: Error) => process.stderr.write(`${spec.instance}: ${error.message}\n`));
}

function ownInterface(): { address: string; cidr: string } {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const own = addresses.find((a) => a.family === 'IPv4' && !a.internal);
  if (!own?.cidr) throw new UsageError('this container has no network: attach it to one');
  return { address: own.address, cidr: own.cidr };
}

/**
 * The container's place in its network (`project-kubelet-2.project_default` → `kubelet-2`): stable when the container
 * is restarted or made anew. Its host name where the network's DNS has no reverse names.
 */
async function networkName(address: string): Promise<string> {
  // `reverse` would look into this container's own hosts file first, which has only its host name.
  const names = await resolvePtr(`${address.split('.').reverse().join('.')}.in-addr.arpa`).catch(() => []);
  const match = names
    .map((name) => /(?:^|[-_])([a-z]+[-_]\d+)\./.exec(name)?.[1])
    .find((name) => name !== undefined);
  return match ? match.replaceAll('_', '-') : hostname();
}
