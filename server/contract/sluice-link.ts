/**
 * Links that open Sluice: `sluice://requests/ID`, `sluice://provider?preset=…` (or `?url=…&name=…`) and
 * `sluice://preset?data=…`. A link only shows something: what it would change needs a click in the window. Any page can
 * make one, so what is not exactly one of these forms is refused, and so is a link with a secret. Pure.
 */
import { looksLikeSecret } from './secret-shape.ts';

/** Why a link shows nothing. */
const linkRefusals = ['preset', 'secret', 'unknown'] as const;
export type LinkRefusal = (typeof linkRefusals)[number];

type SluiceLink =
  /** A team preset, not validated. */
  | { kind: 'preset'; text: string }
  /** A screen of the window, by its path. */
  | { kind: 'screen'; path: string }
  | { kind: 'refused'; reason: LinkRefusal };

const longestPlainLink = 2_000;

export function readSluiceLink(link: string): SluiceLink {
  const isPreset = /^sluice:\/\/preset\b/i.test(link);
  const text = isPreset ? readPresetLink(link) : null;
  // The engine refuses a preset that contains a secret; encoded, its text only looks like one by chance.
  if (text !== null) return { kind: 'preset', text };
  if (!isSluiceLink(link)) return refused('unknown');
  if (holdsSecret(link.slice(0, longestPlainLink))) return refused('secret');
  if (isPreset) return refused('preset');
  const path = link.length > longestPlainLink ? null : (requestPath(link) ?? providerPath(link));
  return path === null ? refused('unknown') : { kind: 'screen', path };
}

function requestPath(link: string): string | null {
  const [, id] = /^sluice:\/\/requests\/(\w+)\/?$/i.exec(link) ?? [];
  return id !== undefined && /^req_\w{1,64}$/.test(id) ? `/requests/${id}` : null;
}

/** The form of a new provider, filled in. Nothing is asked or added before the person has looked at it. */
function providerPath(link: string): string | null {
  // A browser may put a slash before the question mark.
  const [, query] = /^sluice:\/\/provider\/?\?([^#]+)$/i.exec(link) ?? [];
  if (query === undefined) return null;
  const given = [...new URLSearchParams(query)];
  const values = new Map(given);
  if (values.size !== given.length) return null;
  const [preset, url, name] = ['preset', 'url', 'name'].map((each) => values.get(each));
  const known = [preset, url, name].filter((value) => value !== undefined);
  if (known.length !== values.size) return null;
  if (preset !== undefined)
    return values.size === 1 && /^[a-z\d-]{1,64}$/.test(preset) ? `/providers?add&preset=${preset}` : null;
  if (url === undefined || !isPlainAddress(url) || (name !== undefined && !isName(name))) return null;
  return `/providers?add&${new URLSearchParams({ address: url, ...(name !== undefined && { name }) })}`;
}

/** `http` or `https`, with nothing that could lead elsewhere than it seems: no user name, query, fragment or odd character. */
function isPlainAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\/[\w.:[\]-]+(?:\/[\w.~/-]*)?$/i.test(text)) return false;
  return !/(?:^|\/)\.{1,2}(?:\/|$)/.test(text.replace(/^https?:\/\//i, ''));
}

/** One line of visible characters. */
function isName(text: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .,&+()'’_-]{0,79}$/u.test(text);
}

/** Names of parameters that hold secrets, also inside of another one's value. */
const secretName =
  /(?:key|token|secret|passw(?:or)?d|pwd|credential|auth(?:orization)?|bearer|cookie)[\w.-]{0,40}["']?\s{0,5}[=:]/i;
/** A user name or password in an address, wherever that stands. */
const userInfo = /:\/\/[^/?#\s]*@/;
/** How often a secret may be encoded and still be found. */
const mostLayers = 4;

function holdsSecret(link: string): boolean {
  let text = link;
  for (let layer = 0; layer <= mostLayers; layer++) {
    if (looksLikeSecret(text) || secretName.test(text) || userInfo.test(text)) return true;
    const next = decoded(text);
    if (next === text) return false;
    text = next;
  }
  // Nothing that people write is encoded that often.
  return true;
}

/** Sequences that are no UTF-8 stay as they are. */
function decoded(text: string): string {
  return text.replaceAll('+', ' ').replace(/(?:%[\da-f]{2})+/gi, (sequence) => {
    try {
      return decodeURIComponent(sequence);
    } catch {
      return sequence;
    }
  });
}

function refused(reason: LinkRefusal): SluiceLink {
  return { kind: 'refused', reason };
}

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
