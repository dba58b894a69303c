import type { OwnerReference } from '@tinkernetes/api';
import { deepEqual } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, Authorizer, StoreRegistry } from '../contracts';
import { notAdmitted } from './answers';
import { storeOfKind } from './store-of-kind';

/**
 * Who changes an object's owners must be allowed to delete it, and who lets it block an owner's deletion to set the
 * owner's finalizers. Source: k8s.io/kubernetes/plugin/pkg/admission/gc.
 */
export function ownerReferencesPermissionEnforcement(
  stores: StoreRegistry,
  authorizer: Authorizer,
): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    handles: (a) => a.operation === 'CREATE' || a.operation === 'UPDATE',
    validate: async (a) => {
      const now = a.object?.metadata.ownerReferences ?? [];
      const before = a.oldObject?.metadata.ownerReferences ?? [];
      if (now.length === 0 && before.length === 0) return;
      if (a.operation === 'UPDATE' && !deepEqual(now, before)) await mayDelete(a);
      for (const reference of now) {
        const isNew = !before.some((b) => b.uid === reference.uid && b.blockOwnerDeletion);
        if (reference.blockOwnerDeletion && isNew) await maySetFinalizers(a, reference);
      }
    },
  };

  async function mayDelete(a: AdmissionAttributes): Promise<void> {
    const { decision, reason } = await ask(a, {
      verb: 'delete',
      apiGroup: a.group,
      resource: a.resource,
      subresource: '',
      name: a.name,
      namespace: a.namespace,
    });
    if (decision === 'allow') return;
    throw notAdmitted(a, `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`);
  }

  async function maySetFinalizers(a: AdmissionAttributes, reference: OwnerReference): Promise<void> {
    const descriptor = storeOfKind(stores, reference)?.descriptor;
    if (!descriptor) {
      throw notAdmitted(
        a,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${reference.apiVersion} Kind ${reference.kind}`,
      );
    }
    const { decision, reason } = await ask(a, {
      verb: 'update',
      apiGroup: descriptor.group,
      resource: descriptor.resource,
      subresource: 'finalizers',
      name: reference.name,
      namespace: descriptor.namespaced ? a.namespace : '',
    });
    if (decision === 'allow') return;
    throw notAdmitted(
      a,
      `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, <nil>`,
    );
  }

  async function ask(
    a: AdmissionAttributes,
    target: {
      verb: string;
      apiGroup: string;
      resource: string;
      subresource: string;
      name: string;
      namespace: string;
    },
  ) {
    return authorizer.authorize({
      user: a.user,
      isResourceRequest: true,
      apiVersion: '*',
      path: '',
      ...target,
    });
  }
}
