/** Finds the first difference between two requests, to explain a miss to a person. */
import { below, type CanonicalRules, canonicalJson, isIgnored } from './canonical.ts';

interface Difference {
  /** Such as `messages[1].content`. */
  field: string;
  /** As shortened JSON; `nothing` if the field is missing. */
  recorded: string;
  requested: string;
}

const maxShownLength = 120;

/** Null if they are equal under the rules. */
export function firstDifference(recorded: unknown, requested: unknown, rules: CanonicalRules): Difference | null {
  return differ(recorded, requested, { field: '', rules });
}

interface Place {
  field: string;
  rules: CanonicalRules;
}

function differ(recorded: unknown, requested: unknown, { field, rules }: Place): Difference | null {
  if (canonicalOf(recorded, rules) === canonicalOf(requested, rules)) return null;
  const [recordedMembers, requestedMembers] = [membersOf(recorded), membersOf(requested)];
  if (recordedMembers === null || requestedMembers === null || Array.isArray(recorded) !== Array.isArray(requested)) {
    return {
      field: field === '' ? 'body' : field,
      recorded: shorten(recorded, requested),
      requested: shorten(requested, recorded),
    };
  }
  for (const name of new Set([...recordedMembers.keys(), ...requestedMembers.keys()])) {
    if (isIgnored(rules.ignored, name)) continue;
    const inner = {
      field: nameOf(field, name, Array.isArray(recorded)),
      rules: { ...rules, ignored: below(rules.ignored, name) },
    };
    const difference = differ(recordedMembers.get(name), requestedMembers.get(name), inner);
    if (difference) return difference;
  }
  return null;
}

function canonicalOf(value: unknown, rules: CanonicalRules): string {
  return value === undefined ? '' : canonicalJson(value, rules);
}

function membersOf(value: unknown): Map<string, unknown> | null {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}

function nameOf(field: string, name: string, isItem: boolean): string {
  if (isItem) return `${field}[${name}]`;
  return field === '' ? name : `${field}.${name}`;
}

/** Long texts are shown from shortly before their first difference. */
function shorten(value: unknown, other: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? 'nothing';
  if (text.length <= maxShownLength) return text;
  const otherText = JSON.stringify(other) ?? '';
  let equalLength = 0;
  while (equalLength < text.length && text[equalLength] === otherText[equalLength]) equalLength++;
  const from = Math.max(0, equalLength - maxShownLength / 4);
  const part = text.slice(from, from + maxShownLength);
  return `${from > 0 ? '…' : ''}${part}${from + maxShownLength < text.length ? '…' : ''}`;
}
