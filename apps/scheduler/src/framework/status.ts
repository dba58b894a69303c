/**
 * Why a plugin did not simply agree. Undefined instead of a Status means success.
 * Source: k8s.io/kube-scheduler/framework.Code.
 */
export type Code =
  | 'Error'
  /** The node can't take the Pod now; removing Pods from it might help. */
  | 'Unschedulable'
  /** The node can't take the Pod, whatever is removed from it. */
  | 'UnschedulableAndUnresolvable'
  /** Permit: the Pod waits. */
  | 'Wait'
  /** The plugin has nothing to do for this Pod. */
  | 'Skip'
  /** The Pod must wait for something outside of the scheduler. */
  | 'Pending';

export interface Status {
  readonly code: Code;
  readonly reasons: readonly string[];
  /** Set by the framework, where the plugin itself has not. */
  readonly plugin?: string;
}

export const skip: Status = { code: 'Skip', reasons: [] };
export const unschedulable = (...reasons: string[]): Status => ({ code: 'Unschedulable', reasons });
export const unresolvable = (...reasons: string[]): Status => ({
  code: 'UnschedulableAndUnresolvable',
  reasons,
});
export const failed = (error: unknown): Status => ({
  code: 'Error',
  reasons: [error instanceof Error ? error.message : String(error)],
});

export const isRejected = ({ code }: Status): boolean =>
  code === 'Unschedulable' || code === 'UnschedulableAndUnresolvable' || code === 'Pending';
export const messageOf = ({ reasons }: Status): string => reasons.join(', ');
