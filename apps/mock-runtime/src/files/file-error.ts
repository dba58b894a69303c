import { errorCode } from '../error-code';
const words = {
  ENOENT: 'No such file or directory',
  EEXIST: 'File exists',
  ENOTDIR: 'Not a directory',
  EISDIR: 'Is a directory',
  ENOTEMPTY: 'Directory not empty',
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
  ELOOP: 'Too many levels of symbolic links',
  EINVAL: 'Invalid argument',
  EXDEV: 'Invalid cross-device link',
  ENOSPC: 'No space left on device',
  ENOMEM: 'Cannot allocate memory',
  EFBIG: 'File too large',
  EBUSY: 'Device or resource busy',
} as const;

export type FileErrorCode = keyof typeof words;

/** A failed file operation; the message is libc's text, as commands print it after the path. */
export class FileError extends Error {
  override readonly name = 'FileError';

  constructor(
    readonly code: FileErrorCode,
    readonly path: string,
    options?: ErrorOptions,
  ) {
    super(words[code], options);
  }
}

/** An error of the machine's own file system under a mount, told by the container's path. */
export function asFileError(error: unknown, path: string): Error {
  if (error instanceof FileError) return error;
  const code = errorCode(error) ?? '';
  // Node's own, for what it does not read as a whole.
  if (code === 'ERR_FS_FILE_TOO_LARGE') return new FileError('ENOMEM', path, { cause: error });
  if (code in words) return new FileError(code as FileErrorCode, path, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}
