/**
 * A team preset as a link: `sluice://preset?data=…`. It carries the preset itself and no address to fetch it from, so that
 * opening one asks nobody for anything. Whoever reads the link reads the preset. For Node and the window alike.
 */
const prefix = 'sluice://preset?data=';

/** Windows hands a program a command line of at most 32,767 characters. */
const longestLink = 30_000;

/** Null: it is too long for a link; a file does as well. */
export function makePresetLink(preset: object): string | null {
  const bytes = new TextEncoder().encode(JSON.stringify(preset));
  if (bytes.length > longestLink) return null;
  const base64 = btoa(String.fromCharCode(...bytes));
  const link = prefix + base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return link.length > longestLink ? null : link;
}

export function isSluiceLink(text: string): boolean {
  return /^sluice:/i.test(text);
}

/** The text of the preset, unchecked but for being text; null: this is no link as `makePresetLink` makes one. */
export function readPresetLink(link: string): string | null {
  // A browser may put a slash before the question mark.
  const [, data = ''] = /^sluice:\/\/preset\/?\?data=([A-Za-z0-9_-]+)={0,2}$/i.exec(link) ?? [];
  if (data === '' || link.length > longestLink) return null;
  try {
    const base64 = data.replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
