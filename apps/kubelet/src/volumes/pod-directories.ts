import { join } from 'node:path';

/** The layout below --root-dir, the same as upstream's below /var/lib/kubelet. */
export class PodDirectories {
  constructor(readonly rootDir: string) {}

  get pods(): string {
    return join(this.rootDir, 'pods');
  }

  pod(uid: string): string {
    return join(this.pods, uid);
  }

  volumes(uid: string): string {
    return join(this.pod(uid), 'volumes');
  }

  /** `plugin`: `kubernetes.io/configmap`. */
  volume(uid: string, plugin: string, name: string): string {
    return join(this.volumes(uid), plugin.replaceAll('/', '~'), name);
  }

  /** Parts of volumes that containers have mounted. */
  subPaths(uid: string): string {
    return join(this.pod(uid), 'volume-subpaths');
  }

  plugins(uid: string): string {
    return join(this.pod(uid), 'plugins');
  }

  /** Termination messages of one container. */
  container(uid: string, name: string): string {
    return join(this.pod(uid), 'containers', name);
  }

  hostsFile(uid: string): string {
    return join(this.pod(uid), 'etc-hosts');
  }
}
