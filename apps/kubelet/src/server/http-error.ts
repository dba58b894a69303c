/** Answered as plain text, as the kubelet does. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}
