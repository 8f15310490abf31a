/**
 * Fits a client's own chat request to a service that refuses some of it: only the members concerned are changed, every
 * other byte stays as the client sent it. For requests that Sluice writes itself see `chat/render-request.ts`.
 */
import { isObject } from '../../../contract/is-object.ts';
import { type MaybePromise, yieldToEventLoop } from '../../../ground/promises.ts';
import type {
  BodyOutline,
  ChatFlavour,
  FittedBody,
  FittedMember,
  Fitting,
  ReasoningOf,
  RefusedMembers,
} from '../../core/chat-flavour.ts';
import { entryOf } from '../../core/table-entry.ts';
import { JsonNames, type WatchedMember, WatchedMembers } from '../../json/json-names.ts';
import {
  elementsOf,
  endOfValue,
  isListAt,
  isNullAt,
  type JsonMember,
  membersOf,
  removals,
  textIn,
} from '../../json/json-nodes.ts';
import { fieldEdit, fieldValue, type JsonEdit, peekJson } from '../../json/json-peek.ts';
import type { ByteRange } from '../../json/json-scan.ts';
import { placeholderSignature } from '../../neutral/requests/carried-reasoning.ts';

/** Members of messages and functions that some service refuses, each with the bit of its index. */
const watched = [
  { name: 'reasoning_content', depth: 3 },
  { name: 'reasoning', depth: 3 },
  { name: 'reasoning_details', depth: 3 },
  { name: 'refusal', depth: 3 },
  { name: 'annotations', depth: 3 },
  { name: 'audio', depth: 3 },
  { name: 'name', depth: 3 },
  { name: 'role', depth: 3, value: '"developer"' },
  { name: 'role', depth: 3, value: '"assistant"' },
  { name: 'content', depth: 3, value: '[' },
  { name: 'strict', depth: 4 },
] as const satisfies readonly WatchedMember[];

const noNames = new JsonNames([]);
const watchedMembers = new WatchedMembers(watched);

export const chatFitting: Fitting = {
  watched,
  fitted: fittedRequest,
  outlineOf(bytes) {
    const peek = peekJson(bytes, noNames, undefined, watchedMembers);
    return { bytes, members: peek.ok ? peek.members : [], watched: peek.ok ? peek.watched : 0 };
  },
};

/** Longer bodies are gone through in pieces of this length, between which other requests can run. */
const sliceBytes = 256 * 1024;

function fittedRequest(
  { bytes, members, watched: bits }: BodyOutline,
  flavour: ChatFlavour,
  reasoningOf: ReasoningOf,
): MaybePromise<FittedBody | null> {
  const top = members.map(({ key, value }) => memberAt(bytes, key, value));
  const fit = new Fit(bytes, flavour, reasoningOf);
  fit.rename(top, flavour.request, '');
  if ((bits & bitsFor(flavour)) === 0) return fit.result;
  const pauses = fit.inside(top);
  if (bytes.length > sliceBytes) return inSlices(pauses).then(() => fit.result);
  for (const _ of pauses);
  return fit.result;
}

async function inSlices(pauses: Iterable<void>): Promise<void> {
  for (const _ of pauses) await yieldToEventLoop();
}

function memberAt(bytes: Buffer, key: ByteRange, value: ByteRange): JsonMember {
  return { name: textIn(bytes, key) ?? '', start: key.start, end: value.end, value };
}

function bitsFor(flavour: ChatFlavour): number {
  return watched.reduce((bits, member, index) => (isWanted(member, flavour) ? bits | (1 << index) : bits), 0);
}

function isWanted({ name, value }: WatchedMember, flavour: ChatFlavour): boolean {
  const { messages, functions, roles, joinsTexts, wantsReasoning, signsCalls } = flavour;
  if (value === '"assistant"') return wantsReasoning !== 'of none' || signsCalls !== null;
  if (name === 'role') return 'developer' in roles;
  return name === 'content' ? joinsTexts : name in messages || name in functions;
}

/** Collects the changes of one body. */
class Fit {
  readonly #bytes: Buffer;
  readonly #flavour: ChatFlavour;
  readonly #reasoningOf: ReasoningOf;
  readonly #removed: ByteRange[] = [];
  readonly #inserted: JsonEdit[] = [];
  readonly #replaced: JsonEdit[] = [];
  readonly #losses: FittedMember[] = [];

  constructor(bytes: Buffer, flavour: ChatFlavour, reasoningOf: ReasoningOf) {
    this.#bytes = bytes;
    this.#flavour = flavour;
    this.#reasoningOf = reasoningOf;
  }

  /** Leaves the members of one object out, or gives them the service's name if it is free. `path` is that of the object. */
  rename(members: readonly JsonMember[], refused: RefusedMembers, path: string): void {
    const taken = new Set(members.map(({ name }) => name));
    for (const member of members) {
      const { name, start } = member;
      const instead = entryOf(refused, name);
      if (instead === undefined) continue;
      const isFree = instead !== null && !taken.has(instead);
      if (isFree) {
        taken.add(instead);
        this.#replaced.push(fieldEdit({ start, end: endOfValue(this.#bytes, start) }, instead));
      } else this.#removed.push(member);
      this.#losses.push({ fate: isFree ? 'emulated' : 'dropped', field: `${path}${name}`, code: 'provider-refuses' });
    }
  }

  /** Goes through messages and tools. Pauses again and again in a long body. */
  *inside(top: readonly JsonMember[]): Generator<void, void, undefined> {
    let pausedAt = 0;
    const isOff = ({ name, value: { start, end } }: JsonMember) =>
      name === 'thinking' && this.#bytes.subarray(start, end).includes('"disabled"');
    const isThinking = !top.some(isOff);
    for (const { name, value } of top) {
      if (name !== 'messages' && name !== 'tools') continue;
      let index = 0;
      for (const element of elementsOf(this.#bytes, value)) {
        if (name === 'messages') this.#message(element, `messages[${index++}].`, isThinking);
        else this.#tool(element, `tools[${index++}].function.`);
        if (element.end < pausedAt + sliceBytes) continue;
        pausedAt = element.end;
        yield;
      }
    }
  }

  #message(message: ByteRange, path: string, isThinking: boolean): void {
    const { messages, roles, joinsTexts, wantsReasoning } = this.#flavour;
    const members = [...membersOf(this.#bytes, message)];
    this.rename(members, messages, path);
    const given = members.filter(({ value }) => !isNullAt(this.#bytes, value));
    if (isThinking && lacksReasoning(given, this.#textOf(members, 'role'), wantsReasoning))
      this.#addReasoning(members, message);
    if (this.#flavour.signsCalls !== null) this.#signCalls(members);
    for (const { name, value } of members) {
      const isTexts = name === 'content' && joinsTexts && isListAt(this.#bytes, value);
      if (name === 'role') this.#replace(value, entryOf(roles, textIn(this.#bytes, value)), `${path}role`);
      else if (isTexts) this.#replace(value, joinedTexts(this.#read(value)), `${path}content`);
    }
  }

  #addReasoning(members: readonly JsonMember[], message: ByteRange): void {
    const empty = members.find(({ name }) => name === 'reasoning_content');
    const start = members[0]?.start ?? message.end;
    const reasoning = this.#reasoningIn(members);
    const text = `"reasoning_content":${JSON.stringify(reasoning)},`;
    this.#inserted.push(empty ? fieldEdit(empty.value, reasoning) : { start, end: start, text });
  }

  #signCalls(members: readonly JsonMember[]): void {
    const [calls, details] = ['tool_calls', 'reasoning_details'].map((wanted) =>
      members.find(({ name }) => name === wanted),
    );
    if (!calls) return;
    const read = { tool_calls: this.#ofCalls(calls.value), reasoning_details: details && this.#ofCalls(details.value) };
    const missing = missingSignature(read, this.#flavour.signsCalls);
    if (missing === null) return;
    const [[name, value] = []] = Object.entries('ofMessage' in missing ? missing.ofMessage : missing.ofFirstCall);
    const text = JSON.stringify(value);
    const [firstCall = calls.value] = elementsOf(this.#bytes, calls.value);
    const start = 'ofMessage' in missing ? calls.start : firstCall.start + 1;
    const isThere = details && 'ofMessage' in missing;
    this.#inserted.push(isThere ? { ...details.value, text } : { start, end: start, text: `"${name}":${text},` });
  }

  /** As OpenRouter, Cerebras and vLLM name it, or else as it was when its calls passed. */
  #reasoningIn(members: readonly JsonMember[]): string {
    const [own, calls] = ['reasoning', 'tool_calls'].map(
      (wanted) => members.find(({ name }) => name === wanted)?.value,
    );
    const said = own && this.#read(own);
    if (typeof said === 'string' && said !== '') return said;
    return calls ? this.#reasoningOf(this.#ofCalls(calls)) : '';
  }

  #tool(tool: ByteRange, path: string): void {
    for (const { name, value } of membersOf(this.#bytes, tool))
      if (name === 'function') this.rename([...membersOf(this.#bytes, value)], this.#flavour.functions, path);
  }

  #replace(value: ByteRange, instead: string | undefined, field: string): void {
    if (instead === undefined) return;
    this.#replaced.push(fieldEdit(value, instead));
    this.#losses.push({ fate: 'emulated', field, code: 'provider-refuses' });
  }

  #textOf(members: readonly JsonMember[], wanted: string): string | null {
    const found = members.find(({ name }) => name === wanted);
    return found ? textIn(this.#bytes, found.value) : null;
  }

  /** Undefined if it is too long to be parsed at once: no model makes such calls. */
  #ofCalls(value: ByteRange): unknown {
    return value.end - value.start > sliceBytes ? undefined : this.#read(value);
  }

  #read(value: ByteRange): unknown {
    try {
      return fieldValue(this.#bytes, value);
    } catch {
      return undefined; // A malformed string, which the upstream will refuse.
    }
  }

  get result(): FittedBody | null {
    const removed = this.#removed.toSorted((one, other) => one.start - other.start);
    const edits = [...this.#inserted, ...removals(this.#bytes, removed), ...this.#replaced];
    return edits.length === 0 ? null : { edits, losses: this.#losses };
  }
}

/** Whether a message of this role has to have `reasoning_content`, and has not. `members`: those that are not null. */
export function lacksReasoning(
  members: readonly { name: string }[],
  role: unknown,
  wanted: ChatFlavour['wantsReasoning'],
): boolean {
  if (wanted === 'of none' || role !== 'assistant') return false;
  const has = (wantedName: string) => members.some(({ name }) => name === wantedName);
  return !has('reasoning_content') && (wanted === 'of all' || has('tool_calls'));
}

/** The text of a list of texts, as vLLM and llama.cpp join it for such templates; undefined for any other content. */
export function joinedTexts(content: unknown): string | undefined {
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const texts = content.map((part: unknown) => (isObject(part) && part.type === 'text' ? part.text : undefined));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}

type Json = Record<string, unknown>;

/**
 * Google's signature of a call in chats, and what is accepted in place of one for the calls of other models.
 *
 * What a message has to have in addition: members of its own, or of its first call. Null if nothing is missing.
 */
export function missingSignature(
  { tool_calls: calls, reasoning_details: details }: Json,
  place: ChatFlavour['signsCalls'],
): { ofMessage: Json } | { ofFirstCall: Json } | null {
  const first: unknown = Array.isArray(calls) ? calls[0] : undefined;
  if (!isObject(first) || place === null) return null;
  if (place === 'extra_content')
    return isObject(first.extra_content) ? null : { ofFirstCall: { extra_content: signedByNobody } };
  const told: unknown[] = Array.isArray(details) ? details : [];
  if (told.some((detail) => isObject(detail) && detail.type === 'reasoning.encrypted')) return null;
  return { ofMessage: { reasoning_details: [...told, { ...unsealed, id: first.id }] } };
}

const signedByNobody = { google: { thought_signature: placeholderSignature } };

/** As Roo Code sends it to OpenRouter (RooCodeInc/Roo-Code#10759). */
const unsealed = {
  type: 'reasoning.encrypted',
  data: placeholderSignature,
  format: 'google-gemini-v1',
  index: 0,
};
