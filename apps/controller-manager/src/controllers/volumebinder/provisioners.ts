import type { StorageClass } from '@tinkernetes/api';

/** What once was part of Kubernetes, by the name of the driver that does its work now. Source: k8s.io/csi-translation-lib. */
const movedOut: Readonly<Record<string, string>> = {
  'kubernetes.io/aws-ebs': 'ebs.csi.aws.com',
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/azure-file': 'file.csi.azure.com',
  'kubernetes.io/cinder': 'cinder.csi.openstack.org',
  'kubernetes.io/gce-pd': 'pd.csi.storage.gke.io',
  'kubernetes.io/portworx-volume': 'pxd.portworx.com',
  'kubernetes.io/vsphere-volume': 'csi.vsphere.vmware.com',
};

/** Who makes the volumes of a class. */
export const driverOf = ({ provisioner }: StorageClass): string => movedOut[provisioner] ?? provisioner;

/** Names that nobody outside Kubernetes has, and nothing in it has any more; `no-provisioner` among them. */
export const isInTree = (provisioner: string): boolean => provisioner.startsWith('kubernetes.io/');
