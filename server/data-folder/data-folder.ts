/**
 * The folder in which everything of one Sluice lies: configuration, secrets, ledger, logs, uploads on their way. Owns its
 * existence and permissions; knows nothing of what the files mean.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import { temporaryInfix } from '../files/durable-file.ts';
import { describeFileProblem, isUnwritable } from '../files/file-problem.ts';

export interface DataFolder {
  path: string;
  /** For uploads on their way through. */
  tmpPath: string;
  logsPath: string;
  /** What a person should be told, a line each. */
  notices: string[];
  /** Why nothing can be written there now, for a person; null where it can. */
  problem: string | null;
}

/** Says, to us and to backup programs, that a folder's content may be thrown away (bford.info/cachedir). */
const throwAwayTag = 'CACHEDIR.TAG';
const throwAwayTagText =
  'Signature: 8a477f597d28d172789f06886806bc55\n# Uploads of Sluice on their way; removed at its start.\n';

/** Everything a data folder can hold by name; what else is in a folder that somebody chose is none of our business. */
const ownFiles =
  /^(config\.json|config\..+\.json|secrets\..+|instance\.json|models\.json|team-presets\.json|window-sessions\.json|admin\.token|[a-z-]+\.sqlite(-wal|-shm)?)$/;
/** The admin token is replaced at the opening where others could read it, so its permissions must tell that until then. */
const renewedWhereOpen = /^admin\.token$/;
const othersBits = 0o077;
const stickyBit = 0o1000;

/**
 * Makes the folder with its parts, for this user only, and closes too-open permissions where it can. Harmless while
 * another Sluice runs on the same folder. Throws a GatewayError if it cannot be used.
 */
export function prepareDataFolder(path: string): DataFolder {
  const [tmpPath, logsPath] = [join(path, 'tmp'), join(path, 'logs')];
  const folder: DataFolder = { path, tmpPath, logsPath, notices: [], problem: null };
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    refuseSharedFolder(path);
    prepareTmp(folder.tmpPath);
    makeFolder(folder.logsPath);
    tryWriting(join(folder.tmpPath, `probe-${process.pid}`));
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (!isUnwritable(error) || !isFolder(path)) throw unusable(path, describeFileProblem(error));
    folder.problem = describeFileProblem(error);
  }
  folder.notices.push(...closePermissions(folder));
  return folder;
}

export function unusable(path: string, problem: string): GatewayError {
  return new GatewayError(
    'internal',
    `The data folder ${path} cannot be used: ${problem}. Choose another with --data-dir, or make it writable for this user.`,
  );
}

/** On a full disk an empty file could still be made. */
function tryWriting(probe: string): void {
  try {
    writeFileSync(probe, Buffer.alloc(4096));
  } finally {
    rmSync(probe, { force: true });
  }
}

/** For the start on a folder with a `problem`. */
export function unwritableNotice({ path, problem }: DataFolder): string {
  return (
    `The data folder ${path} cannot be written: ${problem}. Requests are served with the configuration that is there; ` +
    'what is asked is not recorded and no change can be made until the folder can be written, which is noticed by itself.'
  );
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Removes what a killed program left behind: uploads and half-written files. Only for the one that holds the instance
 * lock, since another may be at work on them.
 */
export function removeLeftovers({ path, tmpPath }: DataFolder): void {
  if (existsSync(join(tmpPath, throwAwayTag))) {
    for (const name of readdirSync(tmpPath)) {
      if (name !== throwAwayTag) rmSync(join(tmpPath, name), { recursive: true, force: true });
    }
  }
  for (const name of readdirSync(path)) {
    if (isHalfWritten(name)) rmSync(join(path, name), { force: true });
  }
}

/** A folder such as /tmp, where others may put files, must not be closed and cannot be trusted. */
function refuseSharedFolder(path: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & stickyBit) === 0) return;
  throw new GatewayError(
    'internal',
    `The data folder ${path} is shared by all users. Choose a folder in it, with --data-dir.`,
  );
}

/** Not `recursive`, which tells of a read-only disk that there is no such file. */
function makeFolder(path: string): void {
  if (!isFolder(path)) mkdirSync(path, { mode: 0o700 });
}

/** Tags the folder only if it is ours: one that somebody filled before is never emptied. */
function prepareTmp(tmpPath: string): void {
  makeFolder(tmpPath);
  if (readdirSync(tmpPath).length === 0) writeFileSync(join(tmpPath, throwAwayTag), throwAwayTagText);
}

/** Both `conf` and `writeFileDurably` name their temporary files `NAME.tmp-` and 16 digits. */
function isHalfWritten(name: string): boolean {
  const [file, suffix] = name.split(temporaryInfix);
  return ownFiles.test(file ?? '') && /^[0-9a-f]{16}$/.test(suffix ?? '');
}

/** Returns a notice for each that stays open, and one where others could have read the key of the stored secrets. */
function closePermissions({ path, tmpPath, logsPath }: DataFolder): string[] {
  if (process.platform === 'win32') return [];
  const secretsKey = join(path, 'secrets.key');
  const wasOpen = isOpenToOthers(path) && isOpenToOthers(secretsKey);
  const files = readdirSync(path).filter((name) => ownFiles.test(name) && !renewedWhereOpen.test(name));
  const all = [path, tmpPath, logsPath, ...files.map((name) => join(path, name))];
  return [...all.flatMap((each) => closeToOthers(each) ?? []), ...(wasOpen ? [keyWasOpen(secretsKey)] : [])];
}

function isOpenToOthers(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & othersBits) !== 0;
}

function closeToOthers(path: string): string | undefined {
  try {
    if (isOpenToOthers(path)) chmodSync(path, statSync(path).mode & 0o700);
    return undefined;
  } catch (error) {
    return `${path} can be read by other users of this machine, and that cannot be changed: ${describeFileProblem(error)}.`;
  }
}

function keyWasOpen(path: string): string {
  return `${path} could be read by other users of this machine until now: if anybody else uses it, replace the credentials of your providers.`;
}
