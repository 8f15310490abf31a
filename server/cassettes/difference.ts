/** What differs between requests, to explain a miss to a person; and between two recordings of one request. */
import { isDeepStrictEqual } from 'node:util';
import type { RecordedExchange } from './format.ts';
import { below, type CanonicalRules, canonicalJson, isIgnored } from './matching.ts';

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

/** How many characters lie between what two texts have in common at their beginning and their end. */
export function differingLength(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let before = 0;
  while (before < shorter && one[before] === other[before]) before++;
  let after = 0;
  while (after < shorter - before && one.at(-1 - after) === other.at(-1 - after)) after++;
  return Math.max(one.length, other.length) - before - after;
}

/** Whether two recordings of equal requests differ in nothing but the moment of their answers. */
export function saysTheSame(one: RecordedExchange, other: RecordedExchange): boolean {
  return isDeepStrictEqual(essenceOf(one), essenceOf(other));
}

function essenceOf({ request, response, usage }: RecordedExchange): unknown {
  const { wire, headers } = request;
  const answered = Object.entries(response.headers).filter(([name]) => !momentHeaders.has(name));
  const { status, ended, body } = response;
  return { wire, headers, status, ended, answered, usage, body: timeless(body) };
}

/** The date of an answer is in none of them, since it is not recorded. */
const momentHeaders: ReadonlySet<string> = new Set(['x-request-id', 'request-id']);
const moments: ReadonlySet<string> = new Set(['afterMs', 'created', 'created_at', 'completed_at', 'createTime']);

function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => {
    const isMoment = moments.has(name) && ['number', 'string'].includes(typeof member);
    return !isMoment && name !== answerIdOf(value);
  });
  return Object.fromEntries(members.map(([name, member]) => [name, timeless(member)]));
}

/** The member that is an answer's own id, where no later request can name it; those of calls and responses are sent back. */
function answerIdOf(answer: object): string | null {
  if ('candidates' in answer) return 'responseId';
  const isChat = 'object' in answer && /^(?:chat|text)[._]completion/.test(String(answer.object));
  return isChat || 'stop_reason' in answer ? 'id' : null;
}
