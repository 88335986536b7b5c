/** Converts errors of the operating system to FileError. */
import { FileError, type FileErrorReason } from '../../protocol/tools/workspace.js';

const REASONS: Readonly<Record<string, FileErrorReason>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  EISDIR: 'directory',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'read-only',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'too-large',
};

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

export const fileError = (error: unknown, path: string): FileError => {
  if (error instanceof FileError) return error;
  return new FileError(REASONS[errorCode(error) ?? ''] ?? 'io', path, { cause: error });
};
