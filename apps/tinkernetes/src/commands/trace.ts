import { join } from 'node:path';
import { loadDiscovery } from '@tinkernetes/api';
import { createClient, loadKubeconfig } from '@tinkernetes/client';
import { parseFlags, UsageError, type FinishedStep, type FlagSpec } from '@tinkernetes/component-base';
import { dataDirFlag } from '../options';
import { waterfall } from '../trace/waterfall';
import type { Command } from './command';

const flags = {
  ...dataDirFlag,
  kubeconfig: { type: 'string', help: 'Kubeconfig to use (default $KUBECONFIG, then <data-dir>/kubeconfig)' },
  namespace: { type: 'string', short: 'n', default: 'default', help: 'Namespace of the object' },
  all: { type: 'boolean', default: false, help: 'Show each occurrence of a step, not only the first' },
} as const satisfies Record<string, FlagSpec>;

/** Prints the steps that one object went through, as they were recorded while it happened. */
export const trace: Command = {
  name: 'trace',
  summary: 'Show the steps from a request to running containers, e.g. `trace deployment/web`',
  args: 'KIND/NAME',
  flags,
  async run(argv) {
    const [target = '', ...rest] = argv;
    const [resource = '', name] = target.split('/');
    const kind = kindOf(resource);
    if (!kind || !name)
      throw new UsageError('trace needs an object first, e.g. `tinkernetes trace deployment/web`');
    const values = parseFlags(flags, rest);
    const file = values.kubeconfig ?? process.env.KUBECONFIG ?? join(values['data-dir'], 'kubeconfig');
    const client = createClient(await loadKubeconfig(file, { userAgent: 'tinkernetes' }));
    try {
      const query = new URLSearchParams({ kind, namespace: values.namespace, name });
      const spans = await client.request<FinishedStep[]>({
        method: 'GET',
        path: `/debug/tinkernetes/spans?${query}`,
      });
      if (spans.length === 0) {
        throw new UsageError(
          `no trace of ${target} in namespace ${values.namespace}: it doesn't exist, or was created before the API server's last start`,
        );
      }
      process.stdout.write(waterfall(spans, { title: target, all: values.all }));
    } finally {
      client.close();
    }
  },
};

/** The kind behind what kubectl would understand: `deploy`, `deployment`, `deployments`. */
export function kindOf(resource: string): string | undefined {
  const wanted = resource.toLowerCase();
  const known = Object.values(loadDiscovery()).flatMap((list) => list.resources ?? []);
  return known.find((r) => [r.name, r.singularName, ...(r.shortNames ?? [])].includes(wanted))?.kind;
}
