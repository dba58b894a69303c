import { ConfigMaps, Namespaces, ServiceAccounts, type ConfigMap } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';

/** What tests of admission make in an API server. */
export class AdmissionFixture {
  constructor(private readonly client: Client) {}

  /** A namespace with its default account. */
  async newNamespace(name: string, labels: Record<string, string> = {}): Promise<string> {
    await this.client.for(Namespaces).create({ metadata: { name, labels }, spec: {} });
    await this.client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: name });
    return name;
  }

  createConfigMap(namespace: string, name: string, data: Record<string, string> = {}): Promise<ConfigMap> {
    return this.client.for(ConfigMaps).create({ metadata: { name }, data }, { namespace });
  }
}

/** `admitted`, or why not. */
export const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'admitted',
    (error: Error) => error.message,
  );

/** What a policy or webhook looks at, of the core group. */
export const rule = (operations: ('CREATE' | 'UPDATE')[], resources: string[]) => ({
  operations,
  apiGroups: [''],
  apiVersions: ['v1'],
  resources,
});
