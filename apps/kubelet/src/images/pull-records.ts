import type { Logger } from '@tinkernetes/component-base';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SecretCredential } from './keyring';

/** Who may use an image that is there: all Pods of the node, or those that have one of these Secrets. */
interface Access {
  nodePodsAccessible?: boolean;
  kubernetesSecrets?: Array<{ uid: string; namespace: string; name: string; credentialHash: string }>;
}

/** As the kubelet of v1.36 writes it. */
interface PulledRecord {
  kind: 'ImagePulledRecord';
  apiVersion: 'kubelet.config.k8s.io/v1beta1';
  lastUpdatedTime: string;
  imageRef: string;
  /** By image name without tag and digest. */
  credentialMapping: Record<string, Access>;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const hashOf = ({ auth }: SecretCredential): string => sha256(JSON.stringify(auth));

/**
 * By which credentials images were pulled, so that a Pod without them can't use a private image that is on the node for
 * another's sake. Images that this kubelet did not pull are everybody's (policy NeverVerifyPreloadedImages).
 * Source: KEP-2535; pkg/kubelet/images/pullmanager.
 */
export class PullRecords {
  private records: Map<string, PulledRecord> | undefined;
  private readonly directory: string;

  constructor(
    rootDir: string,
    private readonly logger: Logger,
  ) {
    this.directory = join(rootDir, 'image_manager/pulled');
  }

  /** Whether the registry has to be asked if the Pod may have the image that is there. */
  mustPull(repository: string, imageRef: string, credentials: readonly SecretCredential[]): boolean {
    const record = this.all().get(imageRef);
    if (!record) return false;
    const access = record.credentialMapping[repository];
    if (access?.nodePodsAccessible) return false;
    const known = access?.kubernetesSecrets ?? [];
    return !credentials.some((credential) => {
      const hash = hashOf(credential);
      const { uid, namespace, name } = credential.secret;
      return known.some(
        (k) => k.credentialHash === hash || (k.uid === uid && k.namespace === namespace && k.name === name),
      );
    });
  }

  /** `credential`: what it was pulled by; undefined: everybody may. */
  pulled(
    repository: string,
    imageRef: string,
    { credential, now }: { credential: SecretCredential | undefined; now: Date },
  ): void {
    const before = this.all().get(imageRef);
    const access = before?.credentialMapping[repository];
    const after = accessWith(access, credential);
    if (before && after === access) return;
    const record: PulledRecord = {
      kind: 'ImagePulledRecord',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      lastUpdatedTime: now.toISOString().replace(/\.\d+Z$/, 'Z'),
      imageRef,
      credentialMapping: { ...before?.credentialMapping, [repository]: after },
    };
    this.all().set(imageRef, record);
    this.write(record);
  }

  private all(): Map<string, PulledRecord> {
    return (this.records ??= this.read());
  }

  private read(): Map<string, PulledRecord> {
    const records = new Map<string, PulledRecord>();
    mkdirSync(this.directory, { recursive: true });
    for (const name of readdirSync(this.directory)) {
      const path = join(this.directory, name);
      try {
        const record = JSON.parse(readFileSync(path, 'utf8')) as PulledRecord;
        records.set(record.imageRef, record);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        this.logger.warn({ path, err: error }, 'a damaged record of a pulled image is dropped');
        rmSync(path);
      }
    }
    return records;
  }

  private write(record: PulledRecord): void {
    const path = this.fileOf(record.imageRef);
    try {
      writeFileSync(`${path}.tmp`, JSON.stringify(record));
      renameSync(`${path}.tmp`, path);
    } catch (error) {
      // A full disk: the image is there all the same, and is asked for again after a restart at worst.
      this.logger.warn({ path, err: error }, 'could not keep by which credentials an image was pulled');
    }
  }

  private readonly fileOf = (imageRef: string): string => join(this.directory, `sha256-${sha256(imageRef)}`);
}

function accessWith(before: Access | undefined, credential: SecretCredential | undefined): Access {
  if (before?.nodePodsAccessible) return before;
  if (!credential) return { nodePodsAccessible: true };
  const credentialHash = hashOf(credential);
  const { uid, namespace, name } = credential.secret;
  const known = before?.kubernetesSecrets ?? [];
  const isSame = (k: (typeof known)[number]) => k.uid === uid && k.namespace === namespace && k.name === name;
  if (before && known.some((k) => isSame(k) && k.credentialHash === credentialHash)) return before;
  return {
    kubernetesSecrets: [...known.filter((k) => !isSame(k)), { uid, namespace, name, credentialHash }],
  };
}
