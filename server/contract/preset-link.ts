/**
 * A team preset as a link: `sluice://preset?data=…`. The link contains the preset itself, so opening it fetches
 * nothing, but anyone who sees the link can read the preset. Runs in Node and in the window.
 */
const prefix = 'sluice://preset?data=';

/** A command line on Windows has at most 32,767 characters. */
const longestLink = 30_000;

/** Null if the preset is too long for a link. */
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

/** The preset's text, not validated; null if the link was not made by `makePresetLink`. */
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
