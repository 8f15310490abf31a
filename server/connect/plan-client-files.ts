/** Plans the changes of a client's files. Reads the files, but writes none. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { StrongerSetting } from '../contract/connect-views.ts';
import { controlError } from '../contract/control-error.ts';
import type { AppliedFile, AppliedRecord } from './applied-store.ts';
import type { ClientFile, WantedConnection } from './client-files.ts';
import { ConfigSyntaxError } from './config-format.ts';
import { type HomeFile, readHomeFile } from './home-file.ts';
import { jsonExtraIn } from './json-format.ts';
import { SettingsConflict } from './merge-settings.ts';
import { connectedText, disconnectedText, UneditableConfig } from './plan-file.ts';
import type { Sought } from './rival-settings.ts';
import { type SettingsPath, valueAt } from './settings-edits.ts';
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
