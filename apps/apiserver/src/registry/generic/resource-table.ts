import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { ResourceStore, StoreRegistry } from '../../contracts';
import type { GenericStore } from './generic-store';
import type { ServedResource } from './served-resource';

/** All resources that the server knows, built-in and custom, by group, version and plural name. */
export class ResourceTable implements StoreRegistry {
  private readonly resources = new Map<string, ServedResource>();
  /** Any served version of a resource, by group and plural. */
  private readonly byGroupResource = new Map<string, ServedResource>();
  private readonly groupVersions = new Map<string, number>();
  private listeners: (() => void)[] = [];

  add(resource: ServedResource): void {
    const { group, version, resource: plural } = resource.descriptor;
    this.resources.set(`${group}/${version}/${plural}`, resource);
    if (!this.byGroupResource.has(`${group}/${plural}`))
      this.byGroupResource.set(`${group}/${plural}`, resource);
    const groupVersion = `${group}/${version}`;
    this.groupVersions.set(groupVersion, (this.groupVersions.get(groupVersion) ?? 0) + 1);
    for (const listener of this.listeners) listener();
  }

  remove({ group, version, resource }: ResourceDescriptor): void {
    if (!this.resources.delete(`${group}/${version}/${resource}`)) return;
    this.byGroupResource.delete(`${group}/${resource}`);
    for (const other of this.resources.values()) {
      const { descriptor } = other;
      if (descriptor.group === group && descriptor.resource === resource) {
        this.byGroupResource.set(`${group}/${resource}`, other);
      }
    }
    const left = (this.groupVersions.get(`${group}/${version}`) ?? 1) - 1;
    if (left > 0) this.groupVersions.set(`${group}/${version}`, left);
    else this.groupVersions.delete(`${group}/${version}`);
    for (const listener of this.listeners) listener();
  }

  /** Called after each change of what is served. */
  onChange(listener: () => void): void {
    this.listeners = [...this.listeners, listener];
  }

  lookup(group: string, version: string, resource: string): ServedResource | undefined {
    return this.resources.get(`${group}/${version}/${resource}`);
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.groupVersions.has(`${group}/${version}`);
  }

  hasBuiltInGroup(group: string): boolean {
    for (const { custom, descriptor } of this.resources.values()) {
      if (!custom && descriptor.group === group) return true;
    }
    return false;
  }

  all(): Iterable<ServedResource> {
    return this.resources.values();
  }

  for<T extends KubeObject>(descriptor: ResourceDescriptor<T>): ResourceStore<T> {
    const store = this.storeOf(descriptor.group, descriptor.resource);
    if (!store) throw new Error(`no store for ${descriptor.group}/${descriptor.resource}`);
    return store as unknown as ResourceStore<T>;
  }

  find(group: string, resource: string): ResourceStore | undefined {
    return this.storeOf(group, resource);
  }

  findVersion(group: string, version: string, resource: string): ResourceStore | undefined {
    return this.lookup(group, version, resource)?.store;
  }

  storeOf(group: string, resource: string): GenericStore | undefined {
    return this.byGroupResource.get(`${group}/${resource}`)?.store;
  }
}
