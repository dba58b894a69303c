import { Pods, type KubeObject, type Pod } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';
import type { ApiRequest, HandlerDependencies, SubresourceHandler } from '../contracts';
import { containerOf } from './container-choice';
import type { KubeletConnections } from './kubelet-connection';
import { passUpgrade } from './pass-upgrade';

interface StreamKind {
  /** First segment of the kubelet's path. */
  readonly path: string;
  readonly options: string;
  readonly ofContainer: boolean;
}

const exec: StreamKind = { path: 'exec', options: 'PodExecOptions', ofContainer: true };
const attach: StreamKind = { path: 'attach', options: 'PodAttachOptions', ofContainer: true };
const portForward: StreamKind = { path: 'portForward', options: 'PodPortForwardOptions', ofContainer: false };

/** Query names of the API → of the kubelet. Source: registry/core/pod.streamParams. */
const streamNames = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

/** exec, attach and portforward: the client's upgrade goes on to the kubelet, byte for byte. */
export function createPodStreamHandlers(
  deps: HandlerDependencies,
  kubelets: KubeletConnections,
): ReadonlyMap<string, SubresourceHandler> {
  const handler =
    (kind: StreamKind): SubresourceHandler =>
    (request) =>
      stream(deps, kubelets, { request, kind });
  return new Map([
    ['/pods/exec', handler(exec)],
    ['/pods/attach', handler(attach)],
    ['/pods/portforward', handler(portForward)],
  ]);
}

async function stream(
  { stores, admit }: HandlerDependencies,
  kubelets: KubeletConnections,
  { request, kind }: { request: ApiRequest; kind: StreamKind },
): Promise<void> {
  const { name, namespace } = request.info;
  const pod = await stores.for(Pods).get(name, namespace);
  const path = kubeletPath(pod, kind, request.query);
  const nodeName = pod.spec?.nodeName;
  if (!nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  await admit(request, {
    operation: 'CONNECT',
    kind: { group: '', version: 'v1', kind: kind.options },
    object: optionsObject(kind, request.query),
    oldObject: undefined,
  });
  const { base, tls } = await kubelets.locate(nodeName);
  await passUpgrade(request, { url: new URL(path, base), tls });
}

function kubeletPath(pod: Pod, kind: StreamKind, query: URLSearchParams): string {
  const { name = '', namespace = '' } = pod.metadata;
  const target = `/${kind.path}/${namespace}/${name}`;
  const out = new URLSearchParams();
  if (!kind.ofContainer) {
    for (const port of query.getAll('ports')) out.append('port', checkedPort(port));
    return `${target}${suffix(out)}`;
  }
  const container = containerOf(pod, query.get('container') ?? '');
  for (const [given, sent] of Object.entries(streamNames)) if (isSet(query, given)) out.set(sent, '1');
  for (const argument of query.getAll('command')) out.append('command', argument);
  return `${target}/${container}${suffix(out)}`;
}

function checkedPort(text: string): string {
  if (/^\d+$/.test(text)) return text;
  throw badRequest(
    `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

const suffix = (query: URLSearchParams): string => (query.size > 0 ? `?${query.toString()}` : '');
const isSet = (query: URLSearchParams, name: string): boolean =>
  ['true', '1'].includes(query.get(name) ?? '');

/** The options as admission sees them. */
function optionsObject({ options, ofContainer }: StreamKind, query: URLSearchParams): KubeObject {
  const values = ofContainer
    ? {
        ...Object.fromEntries(
          Object.keys(streamNames)
            .filter((name) => isSet(query, name))
            .map((name) => [name, true]),
        ),
        ...(query.has('container') && { container: query.get('container') }),
        ...(query.has('command') && { command: query.getAll('command') }),
      }
    : { ports: query.getAll('ports').map(Number) };
  return { apiVersion: 'v1', kind: options, ...values, metadata: {} as KubeObject['metadata'] };
}
