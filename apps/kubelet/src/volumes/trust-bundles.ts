import type { ClusterTrustBundleProjection, KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import { isNotFound, selectorOf } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';

interface ClusterTrustBundle extends KubeObject {
  spec: { signerName?: string; trustBundle: string };
}

/** A server has this API only when it is asked to, so that it is in no generated list. */
const ClusterTrustBundles: ResourceDescriptor<ClusterTrustBundle> = {
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  resource: 'clustertrustbundles',
  kind: 'ClusterTrustBundle',
  namespaced: false,
};

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;

/**
 * Certificates that Pods are to trust, from ClusterTrustBundles.
 * Source: pkg/kubelet/clustertrustbundle, https://kubernetes.io/docs/concepts/storage/projected-volumes/#clustertrustbundle
 */
export class TrustBundles {
  constructor(private readonly client: Client) {}

  /** All certificates of the bundle, or of all bundles that the source chooses, each once; PEM. */
  async read({ name, signerName, labelSelector, optional }: ClusterTrustBundleProjection): Promise<string> {
    if (name !== undefined) return normalized(await this.byName(name, optional ?? false));
    const bundles = await this.bySigner(signerName ?? '', labelSelector);
    if (bundles.length === 0 && !optional)
      throw new Error('combination of signerName and labelSelector matched zero ClusterTrustBundles');
    return normalized(bundles);
  }

  private async byName(name: string, optional: boolean): Promise<string[]> {
    try {
      const { spec } = await this.client.for(ClusterTrustBundles).get(name);
      return [spec.trustBundle];
    } catch (error) {
      if (optional && isNotFound(error)) return [];
      throw new Error(`error while getting ClusterTrustBundle: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  /** Without a selector none is chosen; an empty one chooses all of the signer. */
  private async bySigner(
    signerName: string,
    selector: ClusterTrustBundleProjection['labelSelector'],
  ): Promise<string[]> {
    if (!selector) return [];
    const { items } = await this.client
      .for(ClusterTrustBundles)
      .list({ labelSelector: selectorOf(selector).toString() });
    return items.filter(({ spec }) => spec.signerName === signerName).map(({ spec }) => spec.trustBundle);
  }
}

/** In a fixed order: content that changes with each look would be written anew each time. */
const normalized = (bundles: readonly string[]): string =>
  [...new Set(bundles.flatMap((bundle) => bundle.match(pemBlock) ?? []))]
    .sort()
    .map((block) => `${block}\n`)
    .join('');
