import { apiVersionOf, type KubeObject, type ResourceDescriptor } from '@tinkernetes/api';
import type { StepId, TraceParent } from '@tinkernetes/component-base';
import type { FieldTyping } from './field-tracking';
import type { UserInfo, WriteInfo } from '../../contracts';

/** Who writes, and how. */
export interface WriteContext {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly operation?: WriteInfo['operation'];
  readonly trace?: TraceParent;
  /** Of the version that the request speaks, for managedFields. */
  readonly apiVersion: string;
  readonly subresource: string;
  /** Left out: nobody's fields are tracked (the server's own writes). An apply has done it already. */
  readonly fields?: {
    readonly typing: FieldTyping;
    readonly isApply: boolean;
    inVersion?(object: KubeObject): KubeObject;
  };
  /** Owners named twice are seen only after mutating admission. */
  readonly dedupsLate?: boolean;
  warn(message: string): void;
  /** Times a part of the write, while the request is traced. */
  measure?<T>(id: StepId, work: () => Promise<T>): Promise<T>;
  /** Mutating admission; the object comes back changed. Undefined: the server's own writes, past admission. */
  mutate?(object: KubeObject, old: KubeObject | undefined): Promise<KubeObject>;
  /** Validating admission of the final object. */
  admit?(object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>;
}

/** The server itself, writing past admission. */
export function systemContext(
  descriptor: Pick<ResourceDescriptor, 'group' | 'version'>,
  namespace: string,
  info: WriteInfo & { typing?: FieldTyping },
): WriteContext {
  return {
    user: { name: 'system:apiserver', groups: ['system:masters'] },
    namespace,
    dryRun: info.dryRun ?? false,
    fieldManager: info.fieldManager ?? 'kube-apiserver',
    operation: info.operation,
    trace: info.trace,
    apiVersion: apiVersionOf(descriptor),
    subresource: info.subresource ?? '',
    fields: info.typing && { typing: info.typing, isApply: false },
    warn: () => undefined,
  };
}
