/** Plans the changes of a client's files. Reads the files, but writes none. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { diff3Merge } from 'node-diff3';
import { withoutVersion } from '../contract/clients/client-guide.ts';
import type { StrongerSetting } from '../contract/connect-views.ts';
import { controlError } from '../contract/control-error.ts';
import type { AppliedFile, AppliedRecord } from './applied-store.ts';
import type { ClientFile, WantedConnection } from './client-files.ts';
import { type HomeFile, readHomeFile } from './home-file.ts';
import { jsonExtraIn } from './json-format.ts';
import {
  type ClientSettings,
  type ConfigFormat,
  ConfigSyntaxError,
  revertSettings,
  SettingsConflict,
  type SettingsPath,
  valueAt,
  withoutPaths,
} from './merge-settings.ts';
import type { Sought } from './rival-settings.ts';
import { nameOf } from './stronger-settings.ts';

/** The planned change of one file. `after` null: it is removed. */
export interface FilePlan {
  now: HomeFile;
  after: string | null;
  mode: number;
  /** The record to store; null for an undo. */
  record: Omit<AppliedFile, 'madeFolder'> | null;
  madeFolder: string | null;
  /** Names of settings that the change takes out because the client prefers them. */
  rivals: string[];
}

/**
 * The file in which the client keeps its settings. Rejects like `readHomeFile`, and if the program's own folder is
 * missing.
 */
export async function findFile(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  { folder, variable, names, isProgramFolder }: ClientFile,
): Promise<HomeFile> {
  const envFolder = variable && env[variable.name];
  const base = envFolder ? join(envFolder, variable.subfolder) : join(home, folder);
  if (isProgramFolder && !(await stat(base).catch(() => null))) {
    throw controlError('conflict', { code: 'client-folder-missing', path: `~/${folder}`, file: names[0] });
  }
  const files = await Promise.all(names.map((name) => readHomeFile(home, join(base, name))));
  // Safe, because a client's file has at least one name.
  return files.find(({ text }) => text !== null) ?? (files.at(-1) as HomeFile);
}

/** Settings of the file as it is now that lead the client elsewhere, none of them Sluice's; none if it cannot be read. */
export async function rivalsInFile(
  file: ClientFile,
  {
    home,
    env,
    record,
  }: { home: string; env: Readonly<Record<string, string | undefined>>; record: AppliedRecord | null },
  sought: Sought,
): Promise<StrongerSetting[]> {
  try {
    const now = await findFile(home, env, file);
    const settings = file.format.parse(now.text ?? '');
    const written = record?.files.find(({ path }) => path === now.path)?.applied;
    const own = file.format.parse(written ?? '');
    const isOwn = (path: SettingsPath) => isDeepStrictEqual(valueAt(settings, path), valueAt(own, path));
    const rivals = now.text === null ? [] : (file.rivals?.(settings, sought) ?? []).filter((path) => !isOwn(path));
    return rivals.map((path) => ({ place: now.shown, setting: nameOf(path) }));
  } catch {
    return [];
  }
}

interface ConnectInput {
  /** Its name. */
  client: string;
  file: ClientFile;
  now: HomeFile;
  wanted: WantedConnection;
}

/**
 * If a change was applied before, the new one starts from the text that reverting it would produce. Null for a file that
 * is only cleared and has nothing to clear.
 */
export function planConnect(
  { client, file, now, wanted }: ConnectInput,
  record: AppliedRecord | null,
): FilePlan | null {
  const earlier = record?.files.find(({ path }) => path === now.path);
  const { before, after, rivals } = withReason(now, () => {
    const base = earlier && now.text !== null ? disconnectedText(file.format, earlier, now.text) : now.text;
    if (base === null && isDeepStrictEqual(file.connect({}, wanted), {}))
      return { before: null, after: null, rivals: [] };
    const { text, rivals: paths } = connectedText(file, base, wanted);
    const found = file.rejects ? jsonExtraIn(base ?? '', file.rejects) : null;
    if (found) throw controlError('conflict', { code: 'client-file-rejected', path: now.shown, client, ...found });
    return { before: base, after: text, rivals: paths.map(nameOf) };
  });
  if (after === null || (file.isOnlyCleared && before === after && after === now.text)) return null;
  const mode = earlier ? earlier.mode : now.mode;
  const holdsKey = wanted.secret !== '' && after.includes(wanted.secret);
  return {
    now,
    after,
    mode: holdsKey ? 0o600 : (mode ?? 0o600),
    record: { path: now.path, before, mode, applied: after },
    madeFolder: earlier?.madeFolder ?? null,
    rivals,
  };
}

/** Null if the file no longer exists, so that there is nothing to revert. */
export async function planDisconnect(
  file: ClientFile | undefined,
  home: string,
  applied: AppliedFile,
): Promise<FilePlan | null> {
  const now = await readHomeFile(home, applied.path);
  const { text } = now;
  if (text === null || !file) return null;
  const after = withReason(now, () => disconnectedText(file.format, applied, text));
  return {
    now,
    after,
    mode: applied.mode ?? now.mode ?? 0o600,
    record: null,
    madeFolder: applied.madeFolder,
    rivals: [],
  };
}

function withReason<Result>({ shown: path }: HomeFile, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (error instanceof ConfigSyntaxError) {
      throw controlError('conflict', { code: 'client-file-broken', path, line: error.line });
    }
    if (error instanceof SettingsConflict || error instanceof UneditableConfig) {
      throw controlError('conflict', { code: 'client-file-uneditable', path });
    }
    throw error;
  }
}

/**
 * Computes the new text of one configuration file: with Sluice's settings, or without them. Pure.
 *
 * Editing the file would change more than Sluice's settings.
 */
class UneditableConfig extends Error {
  override readonly name = 'UneditableConfig';
}

const byteOrderMark = '\uFEFF';

interface ConnectedText {
  text: string;
  /** What the client would have preferred to Sluice's settings, and is no longer in the text. */
  rivals: SettingsPath[];
}

/** The file's text with Sluice's settings. Throws ConfigSyntaxError, SettingsConflict or UneditableConfig. */
export function connectedText(file: ClientFile, text: string | null, wanted: WantedConnection): ConnectedText {
  let rivals: SettingsPath[] = [];
  const connected = inText(text ?? '', (content) => {
    const before = file.format.parse(content);
    const added = file.connect(before, wanted);
    const isKeyKept = wanted.secret !== '' || wanted.keyFile !== null;
    const sought = { origin: withoutVersion(wanted.baseUrl), model: wanted.model, isKeyKept };
    const isTheirs = (path: SettingsPath) => isDeepStrictEqual(valueAt(added, path), valueAt(before, path));
    rivals = (file.rivals?.(added, sought) ?? []).filter(isTheirs);
    const settings = withoutPaths(added, rivals);
    return checked(file.format, file.format.rewrite(content, settings), settings);
  });
  return { text: connected, rivals };
}

interface AppliedText {
  /** The text before Sluice's change; null if the file did not exist. */
  before: string | null;
  applied: string;
}

/**
 * The file's text without Sluice's settings; null if the file must be removed. Later changes by others stay: if the
 * text is unchanged since Sluice wrote it, it is replaced by the text before; otherwise it is merged line by line, or
 * value by value if lines conflict. Throws ConfigSyntaxError or UneditableConfig.
 */
export function disconnectedText(
  format: ConfigFormat,
  { before, applied }: AppliedText,
  current: string,
): string | null {
  if (current === applied) return before;
  const text = inText(current, (content) => {
    const settings = revertSettings(
      format.parse(content),
      format.parse(plain(applied)),
      format.parse(plain(before ?? '')),
    );
    const merged = mergeLines(content, plain(applied), plain(before ?? ''));
    if (merged !== null && holds(format, merged, settings)) return merged;
    return checked(format, format.rewrite(content, settings), settings);
  });
  const isEmptied = before === null && Object.keys(format.parse(plain(text))).length === 0;
  return isEmptied ? null : text;
}

/** Without byte order mark, and with LF as line end if all are CRLF: formats need not know of either. */
function plain(text: string): string {
  const content = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  return isInWindowsLines(content) ? content.replaceAll('\r\n', '\n') : content;
}

function isInWindowsLines(content: string): boolean {
  return content.includes('\r\n') && !/(?<!\r)\n/.test(content);
}

function inText(text: string, change: (content: string) => string): string {
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : '';
  const changed = change(plain(text));
  return mark + (isInWindowsLines(text) ? changed.replaceAll('\n', '\r\n') : changed);
}

function checked(format: ConfigFormat, text: string, settings: ClientSettings): string {
  if (!holds(format, text, settings)) throw new UneditableConfig();
  return text;
}

function holds(format: ConfigFormat, text: string, settings: ClientSettings): boolean {
  try {
    return isDeepStrictEqual(format.parse(text), settings);
  } catch {
    return false;
  }
}

/**
 * Applies the change from `base` to `changed` to `current`, line by line. Null if `current` differs from `base` in the
 * same lines.
 */
function mergeLines(current: string, base: string, changed: string): string | null {
  const parts = diff3Merge(current.split('\n'), base.split('\n'), changed.split('\n'));
  const lines: string[] = [];
  for (const { ok } of parts) {
    if (!ok) return null;
    lines.push(...ok);
  }
  return lines.join('\n');
}
