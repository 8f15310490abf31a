/**
 * Opens what Sluice itself put into a conversation, for a provider that is sent the client's own bytes: a conversation
 * that was answered elsewhere in between comes back with envelopes that only Sluice can read. What the target sealed
 * takes the place of its envelope; what is foreign is left out. Every other byte stays.
 */

import { geminiFacts } from '../../models/model-facts.ts';
import { withoutBudget } from '../anthropic/translation/translation.ts';
import { JsonNames } from '../json/json-names.ts';
import {
  elementsAfter,
  elementsOf,
  endOfValue,
  isListAt,
  isObjectAt,
  type JsonMember,
  membersOf,
  removals,
  textIn,
} from '../json/json-nodes.ts';
import { fieldEdit, type JsonEdit, peekJson, piecesOf } from '../json/json-peek.ts';
import { type ByteRange, JsonMarks, type MarkedElement } from '../json/json-scan.ts';
import type { Origin, Seal, SealKind, WireName } from '../neutral/conversation.ts';
import { type Loss, Losses } from '../neutral/losses.ts';
import {
  bindingOrigin,
  envelopeBeginnings,
  isEnvelope,
  isOfNothing,
  isUnbound,
  isUsableBy,
  placeholderSignature,
  unwrapSeals,
} from '../neutral/requests/carried-reasoning.ts';
import { keptItemBeginnings, responseOfItem } from './kept-reasoning.ts';

interface MarkedBody {
  bytes: Buffer;
  /** As found by the scan of the body. */
  marked: readonly MarkedElement[];
}

/** The changes that make a conversation the target's own. */
export interface Opened {
  edits: readonly JsonEdit[];
  losses: readonly Loss[];
}

export function openSeals(wire: WireName, body: MarkedBody, reader: Origin): Opened {
  const losses = new Losses();
  const edits: JsonEdit[] = [];
  const gone: ByteRange[] = [];
  const reduced: ByteRange[] = [];
  for (const { element, place, at, index } of elementsIn(body, sealFields[wire])) {
    const opener = new SealOpener(body.bytes, reader, losses);
    const isGone = opener.open(element, place, at);
    if (isGone && index === null) edits.push({ ...element, text: '{}' });
    else if (isGone) gone.push(element);
    else edits.push(...opener.edits);
    if (opener.hasDropped) reduced.push(element);
  }
  edits.push(...removals(body.bytes, gone), ...(sealFields[wire].afterLoss?.(body.bytes, reduced, losses) ?? []));
  return { edits, losses: losses.list };
}

/** A body without any seal, and what it lost. */
export interface Unsealed {
  body: Buffer;
  losses: readonly Loss[];
}

/** For a target that has refused a seal, which nobody but its maker can tell from others. Null if there is none. */
export function withoutSeals(wire: WireName, body: Buffer, model: string): Unsealed | null {
  const { list, place } = sealFields[wire];
  const peek = peekJson(body, new JsonNames([list]));
  const messages = peek.ok ? peek.fields.get(list) : undefined;
  if (!messages) return null;
  const losses = new Losses();
  const opener = new SealOpener(body, { provider: '', model, account: '' }, losses, true);
  opener.open(messages, { each: place }, list);
  if (opener.edits.length === 0) return null;
  return { body: Buffer.concat(piecesOf(body, opener.edits)), losses: losses.list };
}

/**
 * Where the newest reasoning was produced, if it is in an envelope that no other provider can read; otherwise null. What a
 * provider of the client's API sealed after it is the newest, for the conversation has gone on there.
 */
export function originOfSeals(wire: WireName, body: MarkedBody): Origin | null {
  const reader = new OriginReader(body.bytes);
  for (const { element, place, index } of elementsIn(body, sealFields[wire], (marked) => marked.toReversed())) {
    const origin = reader.read(element, place);
    if (origin === null) continue;
    const isNewest = index === null || !reader.hasSealAfter(element, place);
    return origin !== 'anyone' && isNewest ? origin : null;
  }
  return null;
}

interface SealedElement {
  element: ByteRange;
  place: Place;
  at: string;
  index: number | null;
}

function* elementsIn(
  { bytes, marked }: MarkedBody,
  { list, place, wrappers }: SealedConversation,
  inOrder = (elements: readonly MarkedElement[]) => elements,
): Generator<SealedElement, void, undefined> {
  for (const { field, index, start } of inOrder(marked)) {
    const isWrapper = wrappers?.includes(field) === true;
    if (field !== list && !isWrapper) continue;
    const at = index === null ? field : `${field}[${index}]`;
    const element = { start, end: endOfValue(bytes, start) };
    yield { element, place: isWrapper ? { members: { [list]: { each: place } } } : place, at, index };
  }
}

/** Null for a value that is no envelope. */
function sealsAt(body: Buffer, value: ByteRange): readonly Seal[] | null {
  const text = textIn(body, value);
  return text !== null && isEnvelope(text) ? unwrapSeals(text, 'plain') : null;
}

class OriginReader {
  readonly #body: Buffer;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** The origin of the last seal in the value; `anyone` if it binds the conversation to none that is known. */
  read(value: ByteRange, { members, each, holder }: Place): Origin | 'anyone' | null {
    let origin: Origin | 'anyone' | null = null;
    if (each) for (const element of eachOf(this.#body, value)) origin = this.read(element, each) ?? origin;
    if (!members && !holder) return origin;
    for (const member of membersOf(this.#body, value)) {
      const isSeal = holder?.seals.some((seal) => seal.member === member.name) === true;
      const inside = members?.[member.name];
      if (inside) origin = this.read(member.value, inside) ?? origin;
      else if (isSeal) origin = this.#originOf(member.value) ?? origin;
    }
    return origin;
  }

  /** In the elements that come after this one. */
  hasSealAfter({ end }: ByteRange, place: Place): boolean {
    for (const element of elementsAfter(this.#body, end)) if (this.read(element, place) !== null) return true;
    return false;
  }

  #originOf(value: ByteRange): Origin | 'anyone' | null {
    const seals = sealsAt(this.#body, value);
    if (seals) return bindingOrigin(seals[0]) ?? 'anyone';
    return textIn(this.#body, value) ? 'anyone' : null;
  }
}

function eachOf(body: Buffer, value: ByteRange): Iterable<ByteRange> {
  return isListAt(body, value) ? elementsOf(body, value) : [value];
}

/**
 * A thought without a seal that the target was asked for by another API is none of this one: with the members of a chat, or
 * without the id that an item of OpenAI's has.
 */
function isKindOf({ kinds, isOptional }: SealMember, { kind, data, itemId }: Seal): boolean {
  const isOfOtherApi = data !== '' || (isOptional === true && itemId === undefined);
  return kinds.includes(kind) && !(kind === 'plain' && isOfOtherApi);
}

interface OpenedHolder {
  members: readonly JsonMember[];
  edits: JsonEdit[];
  gone: JsonMember[];
  /** The id that the provider gave to the item. */
  itemId?: string | undefined;
}

class SealOpener {
  readonly edits: JsonEdit[] = [];
  hasDropped = false;
  readonly #body: Buffer;
  readonly #reader: Origin;
  readonly #losses: Losses;
  readonly #refusesAll: boolean;

  /** `refusesAll`: the reader cannot read any seal, also those that came from a provider of its API. */
  constructor(body: Buffer, reader: Origin, losses: Losses, refusesAll = false) {
    this.#body = body;
    this.#reader = reader;
    this.#losses = losses;
    this.#refusesAll = refusesAll;
  }

  /** True if nothing is left of the value, so that it has to be left out. Collects the edits otherwise. */
  open(value: ByteRange, place: Place, at: string): boolean {
    if (place.holder) return this.#openHolder(value, place.holder, at);
    if (place.each && isListAt(this.#body, value)) return this.#openList(value, place.each, at);
    if (place.each) return this.open(value, place.each, at);
    return isObjectAt(this.#body, value) && this.#openMembers(value, place.members ?? {}, at);
  }

  #openList(list: ByteRange, place: Place, at: string): boolean {
    const gone: ByteRange[] = [];
    let count = 0;
    for (const element of elementsOf(this.#body, list)) {
      if (this.open(element, place, `${at}[${count}]`)) gone.push(element);
      count++;
    }
    return this.#leaveOut(gone, count);
  }

  #openMembers(object: ByteRange, places: Readonly<Record<string, Place>>, at: string): boolean {
    const gone: JsonMember[] = [];
    let count = 0;
    for (const member of membersOf(this.#body, object)) {
      count++;
      const place = Object.hasOwn(places, member.name) ? places[member.name] : undefined;
      if (!place || !this.open(member.value, place, `${at}.${member.name}`)) continue;
      if (place.isEssential) return true;
      gone.push(member);
    }
    return this.#leaveOut(gone, count);
  }

  #leaveOut(gone: readonly ByteRange[], count: number): boolean {
    if (gone.length > 0 && gone.length === count) return true;
    this.edits.push(...removals(this.#body, gone));
    return false;
  }

  #openHolder(object: ByteRange, holder: Holder, at: string): boolean {
    const members = [...membersOf(this.#body, object)];
    const type = this.#textOf(members, 'type');
    const isMade = holder.madeId?.isMade(this.#textOf(members, holder.madeId.member) ?? '') === true;
    const sealed = members.flatMap((member) => {
      const known = holder.seals.find((seal) => seal.member === member.name && (!seal.type || seal.type === type));
      return known ? [{ member, known }] : [];
    });
    const opened: OpenedHolder = { members, edits: [], gone: [] };
    for (const { member, known } of sealed) {
      const seals = sealsAt(this.#body, member.value) ?? (this.#refusesAll ? this.#bareAt(member.value) : null);
      if (seals && this.#openSeal(seals, { member, known, holder, at }, opened)) return true;
    }
    if (isMade && sealed.length === 0 && type !== null && holder.seals.some((seal) => seal.type === type)) {
      this.hasDropped = true;
      this.#losses.dropped(at, 'unsealed-reasoning');
      return true;
    }
    const id = isMade ? members.find(({ name }) => name === holder.madeId?.member) : undefined;
    if (id && opened.itemId !== undefined) opened.edits.push(fieldEdit(id.value, opened.itemId));
    else if (id) opened.gone.push(id);
    return this.#finishHolder(opened, holder);
  }

  /** True if nothing is left of the holder. */
  #openSeal(
    seals: readonly Seal[],
    { member, known, holder, at }: { member: JsonMember; known: SealMember; holder: Holder; at: string },
    opened: OpenedHolder,
  ): boolean {
    const own = seals.findLast((seal) => isKindOf(known, seal) && isUsableBy(seal, this.#reader));
    const substitute = own?.data ?? this.#substituteIn(holder, opened.members);
    if (substitute !== null && textIn(this.#body, member.value) === substitute) return false;
    opened.itemId = own?.itemId;
    if (!own) this.#tell(seals, holder.leaves === 'object' ? at : `${at}.${member.name}`);
    if (own?.data === '' && known.isOptional) opened.gone.push(member);
    else if (substitute !== null) opened.edits.push(fieldEdit(member.value, substitute));
    else if (holder.leaves === 'object') return true;
    else opened.gone.push(member);
    return false;
  }

  #finishHolder({ members, edits, gone }: OpenedHolder, { text }: Holder): boolean {
    const left = members.filter((member) => !gone.includes(member));
    const isEmpty = left.every(({ name, value }) => name === text && textIn(this.#body, value) === '');
    if (gone.length > 0 && isEmpty) return true;
    const inOrder = gone.toSorted((one, other) => one.start - other.start);
    this.edits.push(...edits, ...removals(this.#body, inOrder));
    return false;
  }

  /** Null for a value that is no seal. */
  #bareAt(value: ByteRange): readonly Seal[] | null {
    const text = textIn(this.#body, value);
    return text ? [{ kind: 'signature', data: text }] : null;
  }

  #substituteIn({ substitute }: Holder, members: readonly JsonMember[]): string | null {
    const isFor = members.some(({ name }) => substitute?.of.includes(name));
    return isFor ? (substitute?.valueFor(this.#reader.model) ?? null) : null;
  }

  #textOf(members: readonly JsonMember[], name: string): string | null {
    const member = members.findLast((each) => each.name === name);
    return member ? textIn(this.#body, member.value) : null;
  }

  /** Nothing is lost of an envelope without content, nor of one whose text the provider itself sent without a seal. */
  #tell(seals: readonly Seal[], at: string): void {
    this.hasDropped = true;
    const isEmpty = seals.length > 0 && seals.every(isOfNothing);
    const isNothing = seals.length > 0 && seals.every((seal) => isUnbound(seal) && isUsableBy(seal, this.#reader));
    if (!isNothing && !isEmpty) this.#losses.dropped(at, 'foreign-reasoning');
  }
}

// Where each API carries the seals of reasoning, and so Sluice's envelopes. A value that looks like an envelope
// anywhere else, such as in a text, an argument or a result, is the client's own.

/** A value in the conversation: what to look for in it. */
interface Place {
  /** In its members. */
  members?: Readonly<Record<string, Place>>;
  /** In each of its elements; in itself, if it is no list. */
  each?: Place;
  /** In the value itself. */
  holder?: Holder;
  /** Without it, the object whose member it is says nothing. */
  isEssential?: true;
}

/** An object with a seal. */
interface Holder {
  seals: readonly SealMember[];
  /** What a seal that the provider cannot read takes along: the whole object, or only its member. */
  leaves: 'object' | 'member';
  /** The member of objects to which Sluice gave an id that no provider knows. */
  madeId?: { member: string; isMade(id: string): boolean };
  /** For an object with a member of these: what takes the place of a seal that the provider cannot read; null for nothing. */
  substitute?: { of: readonly string[]; valueFor(model: string): string | null };
  /** A member of no use if it is empty and alone. */
  text?: string;
}

interface SealMember {
  member: string;
  /** The `type` of the object; absent if any object may have the seal. */
  type?: string;
  /** What the API's own providers put there; `plain` if they also send thoughts without a seal. */
  kinds: readonly SealKind[];
  /** A thought without a seal has no such member, rather than an empty one. */
  isOptional?: true;
}

interface SealedConversation {
  /** The top-level field with the list of messages, contents or items. */
  list: string;
  place: Place;
  /** Top-level members that may hold a whole request, with its list. */
  wrappers?: readonly string[];
  /** Changes that a request needs if these elements of the list have lost reasoning. */
  afterLoss?(body: Buffer, reduced: readonly ByteRange[], losses: Losses): JsonEdit[];
}

/** Anthropic's API reference, "Create a Message", and "Extended thinking", sections on preserving and redacted blocks. */
const thinkingBlock: Holder = {
  seals: [
    { type: 'thinking', member: 'signature', kinds: ['signature', 'plain'] },
    { type: 'redacted_thinking', member: 'data', kinds: ['redacted'] },
  ],
  leaves: 'object',
};

/** OpenAI's API reference, "Create a model response", and "Reasoning models", section on encrypted reasoning items. */
const item: Holder = {
  seals: [{ type: 'reasoning', member: 'encrypted_content', kinds: ['encrypted', 'plain'], isOptional: true }],
  leaves: 'object',
  madeId: { member: 'id', isMade: (id) => responseOfItem(id) !== null },
};

/** OpenRouter, "Reasoning tokens", section on preserving `reasoning_details`. */
const reasoningDetail: Holder = {
  seals: [
    { member: 'signature', kinds: ['signature'] },
    { member: 'data', kinds: ['encrypted', 'redacted'] },
  ],
  leaves: 'object',
};

/** Google, "OpenAI compatibility" and "Thought signatures", of calls and of messages; `vertex` at Vertex AI. */
const ownersOfSignatures: Holder = {
  seals: [{ member: 'thought_signature', kinds: ['thought-signature'] }],
  leaves: 'member',
};
const extraContent: Place = {
  members: { google: { holder: ownersOfSignatures }, vertex: { holder: ownersOfSignatures } },
};

/** Google, "Thought signatures"; its JSON for Protobuf takes both spellings. Gemini 3 refuses a call without one. */
const geminiPart: Holder = {
  seals: [
    { member: 'thoughtSignature', kinds: ['thought-signature'] },
    { member: 'thought_signature', kinds: ['thought-signature'] },
  ],
  leaves: 'member',
  substitute: {
    of: ['functionCall', 'function_call'],
    valueFor: (model) => (geminiFacts(model).needsSignatures ? placeholderSignature : null),
  },
  text: 'text',
};

const sealFields: Readonly<Record<WireName, SealedConversation>> = {
  'anthropic-messages': {
    list: 'messages',
    place: { members: { content: { each: { holder: thinkingBlock }, isEssential: true } } },
    afterLoss: withoutBudget,
  },
  'openai-responses': { list: 'input', place: { holder: item } },
  'openai-chat': {
    list: 'messages',
    place: {
      members: {
        reasoning_details: { each: { holder: reasoningDetail } },
        tool_calls: { each: { members: { extra_content: extraContent } } },
        extra_content: extraContent,
      },
    },
  },
  'gemini-generate': {
    list: 'contents',
    place: { members: { parts: { each: { holder: geminiPart }, isEssential: true } } },
    // Google, "models.countTokens".
    wrappers: ['generateContentRequest', 'generate_content_request'],
  },
};

/**
 * By what the one scan of a body recognises a conversation in which Sluice has had a part: its envelopes, and the ids of
 * items of its responses.
 */
export const marksOfSluice = new JsonMarks([...envelopeBeginnings, ...keptItemBeginnings]);
