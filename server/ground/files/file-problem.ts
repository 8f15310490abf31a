const problems: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not change it',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: "the user's share of the disk is full",
  EFBIG: 'the file would be larger than allowed',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EIO: 'the disk reports a fault',
  EMFILE: 'this program may open no more files',
  ENFILE: 'this machine can open no more files',
};

const unwritable = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT', 'EIO']);

/** Whether the error means that a file cannot be written at present. */
export function isUnwritable(error: unknown): boolean {
  return unwritable.has(systemErrorCode(error) ?? '');
}

/** The code of a system error (`ENOENT`), or undefined for any other value. */
export function systemErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Describes a file error for a person, with the system's code if there is one. Never quotes the file's content. */
export function describeFileProblem(error: unknown): string {
  const code = systemErrorCode(error);
  // V8's message quotes the text, which may contain a secret.
  if (error instanceof SyntaxError && error.name === 'SyntaxError') return 'it is not valid JSON';
  if (code === undefined) return error instanceof Error ? error.message : 'unknown error';
  const words = problems[code];
  return words === undefined ? code : `${words} (${code})`;
}
