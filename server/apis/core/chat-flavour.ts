/**
 * What a service takes of chat requests otherwise than OpenAI does, and how requests are fitted to it. Which service
 * has which flavour is in `providers/chat-flavours.ts`; what OpenAI's wire does with it, in
 * `openai/wire/fit-request.ts`.
 */

import { isObject } from '../../contract/is-object.ts';
import type { LossCode } from '../../contract/loss-codes.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { WatchedMember } from '../json/json-names.ts';
import type { JsonEdit, TopMember } from '../json/json-peek.ts';
import { entryOf } from './table-entry.ts';
import type { UpstreamError } from './upstream-error.ts';

/** Members that a service refuses, and the name under which it takes the same value; null: it has none. */
export type RefusedMembers = Readonly<Record<string, string | null>>;

export interface ChatFlavour {
  /** Of the request itself. */
  readonly request: RefusedMembers;
  /** Of each message. */
  readonly messages: RefusedMembers;
  /** Of the function of each tool. */
  readonly functions: RefusedMembers;
  /** Roles that it refuses, and those that mean the same there. */
  readonly roles: Readonly<Record<string, string>>;
  /** Its chat templates take text as a string only: lists of texts are joined. Lists with other parts stay. */
  readonly joinsTexts: boolean;
  /**
   * Which of the assistant's messages it refuses without `reasoning_content`, which may be empty. Its models were trained with
   * their own, so that of a message with calls is kept for clients that do not bring it back.
   */
  readonly wantsReasoning: 'of none' | 'of calls' | 'of all';
  /**
   * Where it wants Google's signature of the first call of each message: in `reasoning_details` of the message, or in
   * `extra_content` of the call. It takes a placeholder for calls of other models. Null: it wants none.
   */
  readonly signsCalls: 'reasoning_details' | 'extra_content' | null;
}

/** Takes what OpenAI takes. */
export const plainFlavour: ChatFlavour = {
  request: {},
  messages: {},
  functions: {},
  roles: {},
  joinsTexts: false,
  wantsReasoning: 'of none',
  signsCalls: null,
};

/** A JSON body, and where its members are. */
export interface BodyOutline {
  bytes: Buffer;
  members: readonly TopMember[];
  /** The bits of the watched members that it has. */
  watched: number;
}

/** A member that was left out, or written in another way. */
export interface FittedMember {
  fate: 'dropped' | 'emulated';
  field: string;
  code: LossCode;
}

/** The reasoning that led to the calls of a message, `tool_calls`; empty if it is unknown. */
export type ReasoningOf = (calls: unknown) => string;

export interface FittedBody {
  edits: readonly JsonEdit[];
  losses: readonly FittedMember[];
}

export interface Fitting {
  /** What the reader of bodies notes, beside the top-level members. */
  readonly watched: readonly WatchedMember[];
  /** Null if the service takes the body as it is. A promise for a long body that has to be gone through once more. */
  fitted(body: BodyOutline, flavour: ChatFlavour, reasoningOf: ReasoningOf): MaybePromise<FittedBody | null>;
  /** Of a body that has been changed since it was read. */
  outlineOf(bytes: BodyOutline['bytes']): BodyOutline;
}

// Members of chat requests that Sluice writes by itself, or in its own words for a client of another API, and
// without which the answer has the same meaning. A service that refuses one of them can be asked without it.

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
