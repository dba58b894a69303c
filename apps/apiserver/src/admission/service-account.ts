import { ServiceAccounts } from '@tinkernetes/api';
import type { Container, KubeObject, Pod, ServiceAccount, Volume } from '@tinkernetes/api';
import { nameSuffix, type RunContext } from '@tinkernetes/component-base';
import { warnOnlyExpirationSeconds } from '../tokens/issuer';
import type { AdmissionAttributes, AdmissionPlugin, ResourceStore, StoreRegistry } from '../contracts';
import { concerns, notAdmitted, notAdmittedYet } from './answers';
import { isMirrorPod } from './mirror-pod';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const enforceMountable = 'kubernetes.io/enforce-mountable-secrets';
/** A new namespace gets its default account a moment after it was made. */
const defaultAccountWaitMs = 1000;

/**
 * Gives Pods their service account, its token and its image pull secrets. Source:
 * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#serviceaccount-admission-controller
 */
export function serviceAccount(stores: StoreRegistry, { clock, random }: RunContext): AdmissionPlugin {
  const accounts = stores.for(ServiceAccounts);
  return {
    name: 'ServiceAccount',
    handles: (a) => a.operation === 'CREATE' && concerns(a, { resource: 'pods' }),
    mutate: async (a) => {
      const pod = a.object as Pod;
      if (!pod.spec) return pod;
      if (isMirrorPod(pod)) return pod;
      const name = pod.spec.serviceAccountName || 'default';
      const account = await accountOf(a, name);
      let spec = { ...pod.spec, serviceAccountName: name, serviceAccount: name };
      if (wantsToken(spec, account)) spec = withToken(spec, `kube-api-access-${nameSuffix(random)}`);
      if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
        spec = {
          ...spec,
          imagePullSecrets: account.imagePullSecrets.map(({ name: secret }) => ({ name: secret })),
        };
      }
      return { ...pod, spec } as KubeObject;
    },
    validate: async (a) => {
      const pod = a.object as Pod;
      if (isMirrorPod(pod)) return checkMirrorPod(a, pod);
      const account = accounts.peek(pod.spec?.serviceAccountName ?? '', a.namespace);
      if (account?.metadata.annotations?.[enforceMountable] === 'true') checkMountable(a, pod, account);
    },
  };

  async function accountOf(a: AdmissionAttributes, name: string): Promise<ServiceAccount> {
    const account =
      accounts.peek(name, a.namespace) ??
      (name === 'default' ? await appearing(accounts, { name, namespace: a.namespace }) : undefined);
    if (account) return account;
    throw notAdmittedYet(
      a,
      `error looking up service account ${a.namespace}/${name}: serviceaccount "${name}" not found`,
    );
  }

  function appearing(
    store: ResourceStore<ServiceAccount>,
    wanted: { name: string; namespace: string },
  ): Promise<ServiceAccount | undefined> {
    return new Promise((resolve) => {
      const finish = (account: ServiceAccount | undefined) => {
        timer.cancel();
        unsubscribe();
        resolve(account);
      };
      const timer = clock.setTimeout(() => finish(undefined), defaultAccountWaitMs);
      const unsubscribe = store.onChange(({ type, object }) => {
        const { name, namespace } = object.metadata;
        if (type !== 'DELETED' && name === wanted.name && namespace === wanted.namespace) finish(object);
      });
    });
  }
}

type PodSpec = NonNullable<Pod['spec']>;

/** The Pod's own word counts more than its account's. */
const wantsToken = (spec: PodSpec, account: ServiceAccount): boolean =>
  spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;

function withToken<S extends PodSpec>(spec: S, volumeName: string): S {
  let mounted = false;
  const mount = <C extends Container>(containers: readonly C[] | undefined): C[] | undefined =>
    containers?.map((container) => {
      const mounts = container.volumeMounts ?? [];
      if (mounts.some((m) => m.mountPath === mountPath)) return container;
      mounted = true;
      return { ...container, volumeMounts: [...mounts, { name: volumeName, readOnly: true, mountPath }] };
    });
  const containers = mount(spec.containers) ?? [];
  const initContainers = mount(spec.initContainers);
  if (!mounted) return spec;
  return {
    ...spec,
    ...(initContainers && { initContainers }),
    containers,
    volumes: [...(spec.volumes ?? []), tokenVolume(volumeName)],
  };
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: warnOnlyExpirationSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

function checkMirrorPod(a: AdmissionAttributes, { spec }: Pod): void {
  if (spec?.serviceAccountName) throw notAdmitted(a, 'a mirror pod may not reference service accounts');
  for (const volume of spec?.volumes ?? []) {
    if (volume.secret) throw notAdmitted(a, 'a mirror pod may not reference secrets');
    if (volume.projected?.sources?.some((source) => source.serviceAccountToken)) {
      throw notAdmitted(a, 'a mirror pod may not use ServiceAccountToken volume projections');
    }
  }
}

/** Accounts with the annotation let their Pods use only the Secrets that they list. */
function checkMountable(a: AdmissionAttributes, { spec }: Pod, account: ServiceAccount): void {
  const allowed = new Set((account.secrets ?? []).map((secret) => secret.name));
  const name = account.metadata.name ?? '';
  const refuse = (what: string, secret: string | undefined): void => {
    if (secret === undefined || allowed.has(secret)) return;
    throw notAdmitted(
      a,
      `${what} secret.secretName="${secret}" is not allowed because service account ${name} does not reference that secret`,
    );
  };
  for (const volume of spec?.volumes ?? []) refuse('volume with', volume.secret?.secretName);
  const refuseContainers = (what: string, containers: readonly Container[] | undefined): void => {
    for (const container of containers ?? []) {
      const named = `${what} ${container.name}`;
      for (const env of container.env ?? []) {
        refuse(`${named} with envVar ${env.name} referencing`, env.valueFrom?.secretKeyRef?.name);
      }
      for (const from of container.envFrom ?? []) {
        refuse(`${named} with envFrom referencing`, from.secretRef?.name);
      }
    }
  };
  refuseContainers('init container', spec?.initContainers);
  refuseContainers('container', spec?.containers);
  const pullSecrets = new Set((account.imagePullSecrets ?? []).map((secret) => secret.name));
  for (const [i, secret] of (spec?.imagePullSecrets ?? []).entries()) {
    if (!pullSecrets.has(secret.name)) {
      throw notAdmitted(
        a,
        `imagePullSecrets[${i}].name="${secret.name ?? ''}" is not allowed because service account ${name} does not reference that imagePullSecret`,
      );
    }
  }
}
