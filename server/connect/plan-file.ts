/** Computes the new text of one configuration file: with Sluice's settings, or without them. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { diff3Merge } from 'node-diff3';
import { withoutVersion } from '../contract/clients/client-guide.ts';
import type { ClientFile, WantedConnection } from './client-files.ts';
import type { ClientSettings, ConfigFormat } from './config-format.ts';
import { revertSettings } from './merge-settings.ts';
import { type SettingsPath, valueAt, withoutPaths } from './settings-edits.ts';

/** Editing the file would change more than Sluice's settings. */
export class UneditableConfig extends Error {
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
