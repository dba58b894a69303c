/** Why a container waits, as shown in `state.waiting.reason`. */
export type WaitingReason =
  | 'CrashLoopBackOff'
  | 'ImagePullBackOff'
  | 'ErrImagePull'
  | 'ErrImageNeverPull'
  | 'ImageInspectError'
  | 'InvalidImageName'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError'
  | 'PostStartHookError';

/** A container could not be started; the message is for the Pod's status. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** When it is worth trying again; left out: at the worker's own pace. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly reason: WaitingReason,
    message: string,
    { retryAfterMs, ...options }: ErrorOptions & { retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}
