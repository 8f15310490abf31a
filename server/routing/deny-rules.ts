/**
 * What a group may not use. Unlike the names that it allows, a ban holds for the model that a provider would be asked for, in
 * whatever form a client, an alias or a provider names it: dated, with a maker in front, in other letters.
 */
import { canonicalName, foldName, identify, type ModelIdentity } from '../contract/model-identity.ts';
import { matchesAny } from './pattern.ts';

/** Whether a model is banned, at one provider or as a name that a client asks for. */
type IsDenied = (model: string, providerId?: string) => boolean;

/** @param patterns names, with `*` for any run of characters; `provider/model` bans a model at one provider */
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
