import { text } from 'node:stream/consumers';
import { builtInPlugins, execPlugin, findPlugin, type PluginHost } from '@tinkernetes/cni';
import { createVnetClient, type VnetClient } from '@tinkernetes/vnet';

/** A CNI executable: configuration on stdin, parameters in the environment, the result on stdout. */
export async function runExecutable(name: string): Promise<void> {
  const plugin = builtInPlugins[name];
  if (!plugin) {
    process.stderr.write(`no CNI plugin "${name}": one of ${Object.keys(builtInPlugins).join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const clients: VnetClient[] = [];
  const host: PluginHost = {
    network: (endpoint = process.env.TINKERNETES_VNET_ENDPOINT) => {
      if (!endpoint) throw new Error('the network configuration has no "vnet" endpoint');
      const client = createVnetClient(endpoint);
      clients.push(client);
      return client;
    },
    delegate: async (type, input) => execPlugin(await findPlugin(type, input.env.CNI_PATH ?? ''), input),
  };
  const output = await plugin({ stdin: await text(process.stdin), env: process.env }, host);
  for (const client of clients) client.close();
  process.stdout.write(output.stdout);
  process.exitCode = output.exitCode;
}
