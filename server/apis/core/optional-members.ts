/**
 * Members of chat requests that Sluice writes by itself, or in its own words for a client of another API, and without which the
 * answer has the same meaning. A service that refuses one of them can be asked without it.
 */
import { isObject } from '../../contract/is-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { ChatFlavour } from './chat-flavour.ts';
import { entryOf } from './table-entry.ts';
import type { UpstreamError } from './upstream-error.ts';

/** Where a member stands, and the name under which the service may take its value. */
interface OptionalMember {
  of: 'request' | 'messages' | 'functions';
  instead: string | null;
}

const hint: OptionalMember = { of: 'request', instead: null };

const optionalMembers: Readonly<Record<string, OptionalMember>> = {
  stream_options: hint,
  max_tokens: { of: 'request', instead: 'max_completion_tokens' },
  max_completion_tokens: { of: 'request', instead: 'max_tokens' },
  parallel_tool_calls: hint,
  reasoning_effort: hint,
  prompt_cache_key: hint,
  safety_identifier: hint,
  service_tier: hint,
  verbosity: hint,
  reasoning_content: { of: 'messages', instead: null },
  strict: { of: 'functions', instead: null },
};

/**
 * Words for a member that is not known or not taken, unlike those for a value that is wrong: OpenAI's "Unrecognized request
 * argument supplied: stream_options", Azure's "Unknown parameter: 'stream_options'.", Pydantic's "Extra inputs are not
 * permitted", Groq's "property 'x' is unsupported", xAI's "Argument not supported on this model".
 */
const refusalWords = boundedPattern(
  /extra_forbidden|extra (?:inputs?|fields?)|not (?:permitted|supported|allowed|accepted)|unsupported|does(?: not|n't) support|unrecogni[sz]ed|unknown|unexpected|no such|additional propert/i,
);

/** Errors may echo the request after their first words. */
const maxReadLength = 1024;

/** The optional member that the error says the service refuses; null if it names none, or names it for its value. */
export function refusedMemberIn({ message, param, code }: UpstreamError): string | null {
  const text = message.slice(0, maxReadLength);
  if (!refusalWords.test(text) && !refusalWords.test(code.slice(0, maxReadLength))) return null;
  return (param === null ? null : firstNamed(param.slice(0, maxReadLength))) ?? firstNamed(text);
}

/** One error teaches no more than one member: the first that it names. */
function firstNamed(said: string): string | null {
  let first: string | null = null;
  let firstAt = said.length;
  for (const member of Object.keys(optionalMembers)) {
    const at = placeOf(member, said);
    if (at === -1 || at >= firstAt) continue;
    first = member;
    firstAt = at;
  }
  return first;
}

/** Where it stands as a word of its own; -1: nowhere. */
function placeOf(member: string, said: string): number {
  let at = said.indexOf(member);
  while (at !== -1 && (isInName(said[at - 1]) || isInName(said[at + member.length]))) at = said.indexOf(member, at + 1);
  return at;
}

function isInName(character: string | undefined): boolean {
  return character !== undefined && ((character >= 'a' && character <= 'z') || character === '_');
}

/** Whether the request has this member where it is optional: a parameter of a tool may have the same name. */
export function hasOptional(body: Record<string, unknown>, member: string): boolean {
  const of = entryOf(optionalMembers, member)?.of;
  if (of === 'request') return member in body;
  const list = of === 'messages' ? body.messages : of && body.tools;
  return Array.isArray(list) && list.some((each) => isObject(each) && hasMember(each, member, of));
}

function hasMember(each: Record<string, unknown>, member: string, of: OptionalMember['of'] | undefined): boolean {
  const { function: described } = each;
  return of === 'functions' ? isObject(described) && member in described : member in each;
}

/** The flavour of a service that refuses this member besides. */
export function refusing(flavour: ChatFlavour, member: string): ChatFlavour {
  const known = entryOf(optionalMembers, member);
  return known ? { ...flavour, [known.of]: { ...flavour[known.of], [member]: known.instead } } : flavour;
}
