import { Pods } from '@tinkernetes/api';
import type { Binding, KubeObject, Pod } from '@tinkernetes/api';
import { badRequest, conflict, StatusError } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { builtInCodec } from '../../codec/object-codec';
import { sendValue } from '../answer';
import type { Endpoint, EndpointContext, ResourceRequest } from '../context';
import { runMutating, runValidating } from '../admission-chain';
import { checkNamespace } from '../create';
import { readTypedObject } from '../read-object';
import { writeQuery } from '../write-options';

const descriptor = { group: '', version: 'v1', kind: 'Binding' };
const bindings = { group: '', resource: 'pods/binding' };

/** POST of `pods/{name}/binding` or `bindings`: sets the Pod's node, once. Source: pkg/registry/core/pod/storage.BindingREST. */
export const binding: Endpoint = async (context, request) => {
  const started = context.clock.now();
  const query = writeQuery(request, 'CreateOptions');
  const given = (await readTypedObject(context, request, {
    codec: builtInCodec(descriptor),
    target: 'core.Binding',
    fieldValidation: query.fieldValidation,
  })) as Binding & KubeObject;
  checkNamespace(given.metadata.namespace, request.namespace);
  const name = request.info.name || given.metadata.name;
  if (!name) throw badRequest('Name parameter required.');
  if (given.metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
  checkTarget(given);
  const admitted = await admit(context, request, { given, name, dryRun: query.dryRun });
  request.steps?.mark('apiserver.binding', started, { node: admitted.target.name ?? '' });
  await bind(context, request, { name, binding: admitted, dryRun: query.dryRun });
  sendValue(request, 201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
  request.steps?.finish({ kind: 'Pod', metadata: { name, namespace: request.namespace } });
};

/** Upstream answers these as a plain error, which is a 500. */
function checkTarget({ target }: Binding): void {
  const errors: string[] = [];
  if (target.kind && target.kind !== 'Node') {
    errors.push(`target.kind: Unsupported value: "${target.kind}": supported values: "Node", "<empty>"`);
  }
  if (!target.name) errors.push('target.name: Required value');
  if (errors.length)
    throw new StatusError('Unknown', errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`);
}

async function admit(
  context: EndpointContext,
  request: ResourceRequest,
  { given, name, dryRun }: { given: Binding & KubeObject; name: string; dryRun: boolean },
): Promise<Binding & KubeObject> {
  const attributes = {
    operation: 'CREATE' as const,
    group: '',
    version: 'v1',
    resource: request.info.resource,
    subresource: request.info.subresource,
    kind: 'Binding',
    namespace: request.info.namespace,
    name,
    object: given,
    oldObject: undefined,
    options: {},
    user: request.user,
    dryRun,
    warn: (message: string) => request.warn(message),
  };
  const object = (await runMutating(context.admission, attributes)) as Binding & KubeObject;
  await runValidating(context.admission, { ...attributes, object });
  return object;
}

async function bind(
  { table, clock, context }: EndpointContext,
  request: ResourceRequest,
  { name, binding, dryRun }: { name: string; binding: Binding & KubeObject; dryRun: boolean },
): Promise<void> {
  const pods = table.for(Pods);
  const { annotations, labels } = binding.metadata;
  const node = binding.target.name ?? '';
  const object = { kind: 'Pod', namespace: request.info.namespace, name };
  await context.tracer.step(
    'apiserver.binding.apply',
    { parent: request.trace, object, attributes: { node } },
    () =>
      pods.modify(
        name,
        request.info.namespace,
        (pod) => {
          checkPreconditions(pod, binding);
          if (pod.metadata.deletionTimestamp)
            throw refused(name, `pod ${name} is being deleted, cannot be assigned to a host`);
          if (pod.spec.nodeName)
            throw refused(name, `pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
          if (pod.spec.schedulingGates?.length)
            throw refused(name, `pod ${name} has non-empty .spec.schedulingGates`);
          return bound(pod, { nodeName: node, annotations, labels, now: formatTime(clock.now()) });
        },
        { dryRun, trace: request.trace },
      ),
  );
}

/** In the words of upstream's storage, which compares them. */
function checkPreconditions({ metadata }: Pod, binding: KubeObject): void {
  const { name, namespace = '' } = metadata;
  const compare = (what: string, wanted = '', actual = '') => {
    if (wanted === '' || wanted === actual) return;
    const problem = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${actual}`;
    throw conflict(
      Pods,
      name,
      `StorageError: invalid object, Code: 4, Key: /registry/pods/${namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: ${problem}`,
    );
  };
  compare('UID', binding.metadata.uid, metadata.uid);
  compare('ResourceVersion', binding.metadata.resourceVersion, metadata.resourceVersion);
}

const refused = (name: string, reason: string): StatusError => conflict(bindings, name, reason);

interface BindingChange {
  nodeName: string;
  annotations: Record<string, string> | undefined;
  labels: Record<string, string> | undefined;
  now: string;
}

/** The Pod on its node, with the condition that says so. */
export function bound(pod: Pod, { nodeName, annotations, labels, now }: BindingChange): Pod {
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations && { annotations: { ...pod.metadata.annotations, ...annotations } }),
      ...(labels && { labels: { ...pod.metadata.labels, ...labels } }),
    },
    spec: { ...pod.spec, nodeName },
    status: {
      ...pod.status,
      conditions: [
        ...others,
        {
          type: 'PodScheduled',
          status: 'True',
          lastTransitionTime: now,
        },
      ],
    },
  } as Pod;
}
