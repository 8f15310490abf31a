/** Patterns of model names, and the rules that deny models by them. */
import { canonicalName, foldName, identify, type ModelIdentity } from '../contract/model-identity.ts';

/** Compiles patterns such as `gpt-*`; `*` matches any run of characters, everything else itself, case-sensitively. */
export function matchesAny(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(compile);
  return (name) => exact.has(name) || wild.some((matches) => matches(name));
}

/** Not a regular expression: with several `*` its backtracking would explode for a long name, and clients choose the name. */
function compile(pattern: string): (name: string) => boolean {
  const parts = pattern.split('*');
  const first = parts.shift() ?? '';
  const last = parts.pop() ?? '';
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
    const middle = name.slice(first.length, name.length - last.length);
    let from = 0;
    return parts.every((part) => {
      const at = middle.indexOf(part, from);
      from = at + part.length;
      return at !== -1;
    });
  };
}

/** Whether a model is banned, at one provider or as a name that a client asks for. */
type IsDenied = (model: string, providerId?: string) => boolean;

/**
 * What a group may not use. Unlike the names that it allows, a ban holds for the model that a provider would be asked for, in
 * whatever form a client, an alias or a provider names it: dated, with a maker in front, in other letters.
 *
 * @param patterns names, with `*` for any run of characters; `provider/model` bans a model at one provider
 */
export function compileDenied(patterns: readonly string[]): IsDenied {
  if (patterns.length === 0) return () => false;
  const folded = patterns.map(foldName);
  const plain = folded.filter((pattern) => !pattern.includes('/'));
  const isWritten = matchesAny(folded);
  const isSeparated = matchesAny(folded.map(separated));
  const isCanonical = matchesAny(plain.map((pattern) => pattern.split('*').map(canonicalName).join('*')));
  const meant = new Set(plain.filter((pattern) => !pattern.includes('*')).map(meaningOf));
  return (model, providerId) => {
    const identity = identify(model);
    const { model: name, written } = identity;
    const asked = foldName(model);
    const spellings = [asked, written, ...(providerId === undefined ? [] : [`${foldName(providerId)}/${asked}`])];
    return (
      spellings.some((spelling) => isWritten(spelling) || isSeparated(separated(spelling))) ||
      isCanonical(name) ||
      isCanonical(canonicalName(written)) ||
      meant.has(name) ||
      meant.has(datedName(identity))
    );
  };
}

const separated = (name: string) => name.replace(/[._:@]+/g, '-');

/** A ban of a model holds for all its dates and suffixes; one of a date or a suffix for that alone. */
function meaningOf(pattern: string): string {
  const identity = identify(pattern);
  return identity.date === null && identity.suffixes.length === 0 ? identity.model : datedName(identity);
}

const datedName = ({ model, date, suffixes }: ModelIdentity) => [model, date ?? '', ...suffixes].join('@');
