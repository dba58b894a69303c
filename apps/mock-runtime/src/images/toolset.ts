import { executable, link, type FsNode } from '../files/nodes';
import { commandNames, loadCommand, networkTools } from '../commands/registry';

const built = new Map<string, Readonly<Record<string, FsNode>>>();

/** The commands of a distribution, by path; made once and shared by all images. */
export function toolset(kind: 'busybox' | 'debian'): Readonly<Record<string, FsNode>> {
  let commands = built.get(kind);
  if (!commands) built.set(kind, (commands = build(kind)));
  return commands;
}

function build(kind: 'busybox' | 'debian'): Readonly<Record<string, FsNode>> {
  const nodes: Record<string, FsNode> = {};
  for (const name of commandNames(kind)) nodes[`/bin/${name}`] = executable(() => loadCommand(name));
  nodes['/usr/bin/env'] = link('/bin/env');
  return nodes;
}

/** curl for images that bring it to a busybox. */
export const withCurl = (): Readonly<Record<string, FsNode>> => ({
  '/usr/bin/curl': executable(() => loadCommand('curl')),
});

/** What images for debugging networks bring: BIND's tools, curl and busybox'. */
export const withNetworkTools = (): Readonly<Record<string, FsNode>> =>
  Object.fromEntries(networkTools.map((name) => [`/usr/bin/${name}`, executable(() => loadCommand(name))]));
