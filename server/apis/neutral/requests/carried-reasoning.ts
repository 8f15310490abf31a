/**
 * Carries opaque data that a provider expects back (a signature, encrypted reasoning) through a client of another API,
 * in a field that this client returns anyway. The envelope names the origin, because only the origin can read the
 * content: Anthropic binds a signature to its model (newer ones also to the account), and OpenAI to the organisation.
 *
 * The envelope is base64, as Google's clients expect of a `thoughtSignature`, and says whether it is whole: what a
 * client has changed or cut off would be refused by the origin.
 */
import { crc32 } from 'node:zlib';
import type { ClientApi } from '../client-api.ts';
import type { Origin, Part, Place, Seal, SealKind, TextPart, ThinkingPart } from '../conversation.ts';

const mark = 'sl1';
/** The constant beginning of each envelope: the base64 of `sl1` and a zero byte, as far as these determine it. */
const beginning = Buffer.from(`${mark}\0`).toString('base64').slice(0, 5);
const severalMark = 'slN';
const severalBeginning = Buffer.from(severalMark).toString('base64');
/** How the base64 of each envelope begins. */
export const envelopeBeginnings: readonly string[] = [beginning, severalBeginning];
const ofCall = 'call';
const kinds = ['signature', 'redacted', 'encrypted', 'thought-signature', 'members', 'plain'] as const;

/** The envelope that a client receives. */
export function wrapSeal({ kind, place, isOfCall, data, itemId, text, origin }: Seal): string {
  const { provider = '', model = '', account = '' } = origin ?? {};
  const placedKind = [kind, ...(place ? [place.calls, place.text, ...(isOfCall ? [ofCall] : [])] : [])].join(' ');
  const members = [provider, model, account, placedKind, itemId ?? '', text ?? '', data].join('\0');
  return Buffer.from([mark, checkOf(members), members].join('\0')).toString('base64');
}

const checkOf = (members: string) => crc32(members).toString(36);

/**
 * Stands where a provider of the client's API expects a seal and there is none, so that the place is recognised as one of
 * Sluice's making when it comes back.
 */
export const envelopeOfNothing = wrapSeal({ kind: 'plain', data: '' });

export function isOfNothing({ origin }: Seal): boolean {
  return origin?.provider === '';
}

/** Whether the value is of Sluice's making, even if it was damaged since. */
export function isEnvelope(text: string): boolean {
  return envelopeBeginnings.some((each) => text.startsWith(each));
}

/**
 * Reads a value that a client sent back: an envelope with its origin, or a bare value from a provider of the client's
 * own API. A damaged envelope has no origin either, so that nobody can use it.
 */
export function unwrapSeal(text: string, bareKind: SealKind): Seal {
  const bare = { kind: bareKind, data: text };
  if (!text.startsWith(beginning)) return bare;
  const [first, check, ...members] = Buffer.from(text, 'base64').toString().split('\0');
  const [provider = '', model = '', account = '', placedKind = '', itemId = '', thought = '', ...data] = members;
  const [kindName, calls, textLength, owner] = placedKind.split(' ');
  const kind = kinds.find((each) => each === kindName);
  if (first !== mark || kind === undefined || check !== checkOf(members.join('\0'))) return bare;
  const seal: Seal = { kind, data: data.join('\0'), origin: { provider, model, account } };
  if (itemId !== '') seal.itemId = itemId;
  if (thought !== '') seal.text = thought;
  if (textLength !== undefined) seal.place = { calls: Number(calls), text: Number(textLength) };
  if (owner === ofCall) seal.isOfCall = true;
  return seal;
}

/** Joins several envelopes, separated by spaces, and encodes them as base64 for a client with a single field. */
export function wrapSeals(seals: readonly Seal[]): string {
  const [only] = seals;
  if (seals.length === 1 && only) return wrapSeal(only);
  return Buffer.from(`${severalMark} ${seals.map(wrapSeal).join(' ')}`).toString('base64');
}

export function unwrapSeals(text: string, bareKind: SealKind): Seal[] {
  if (!text.startsWith(severalBeginning)) return [unwrapSeal(text, bareKind)];
  const [, ...seals] = Buffer.from(text, 'base64').toString().split(' ');
  return seals.map((seal) => unwrapSeal(seal, bareKind));
}

/** Whether `reader` can use the seal. A bare seal comes from a provider of the client's own API, so `reader` cannot. */
export function isUsableBy(seal: Seal | undefined, reader: Origin): seal is Seal {
  const origin = seal?.origin;
  if (seal === undefined || origin === undefined) return false;
  const isSameAccount = origin.account === reader.account || isUnbound(seal);
  return origin.provider === reader.provider && origin.model === reader.model && isSameAccount;
}

/** Whether the seal is bound to no account, because there is nothing to return but the text itself. */
export function isUnbound({ kind }: Seal): boolean {
  return kind === 'plain';
}

const atBeginning: Place = { calls: 0, text: 0 };

/**
 * Puts thoughts back where they stood in their answer. Clients of chats return them apart from texts and calls, and
 * Claude refuses thoughts that have moved: "blocks in the latest assistant message cannot be modified".
 *
 * @param thoughts in their order; those that do not tell their place stand first
 */
export function withThoughts(parts: readonly Part[], thoughts: readonly ThinkingPart[]): Part[] {
  if (thoughts.length === 0) return [...parts];
  const arrangement = new Arrangement(thoughts);
  for (const part of parts) arrangement.take(part);
  return arrangement.end();
}

class Arrangement {
  readonly #thoughts: readonly ThinkingPart[];
  readonly #parts: Part[] = [];
  #placed = 0;
  #calls = 0;
  /** Length of the text so far. */
  #text = 0;

  constructor(thoughts: readonly ThinkingPart[]) {
    this.#thoughts = thoughts;
  }

  take(part: Part): void {
    if (part.type === 'text') this.#takeText(part);
    else {
      this.#place(part.type === 'call');
      if (part.type === 'call') this.#calls++;
      this.#parts.push(part);
    }
  }

  end(): Part[] {
    this.#parts.push(...this.#thoughts.slice(this.#placed));
    return this.#parts;
  }

  /** Divides a text within which a thought stood: chats join all texts of an answer. */
  #takeText(part: TextPart): void {
    let from = 0;
    while (from < part.text.length) {
      this.#place(false);
      const next = this.#next;
      const isWithin = next !== null && next.calls === this.#calls;
      const until = isWithin ? Math.min(part.text.length, from + next.text - this.#text) : part.text.length;
      this.#parts.push({ ...part, text: part.text.slice(from, until) });
      this.#text += until - from;
      from = until;
    }
  }

  get #next(): Place | null {
    const thought = this.#thoughts[this.#placed];
    return thought === undefined ? null : (thought.seal?.place ?? atBeginning);
  }

  /** The thoughts that stood here or before; before a call, all that stood between it and the call before it. */
  #place(isBeforeCall: boolean): void {
    for (let next = this.#next; next !== null; next = this.#next) {
      const isHere = next.calls === this.#calls && (isBeforeCall || next.text <= this.#text);
      const thought = this.#thoughts[this.#placed];
      if (thought === undefined || (next.calls >= this.#calls && !isHere)) return;
      this.#parts.push(thought);
      this.#placed++;
    }
  }
}

/**
 * By what the origin of the newest sealed reasoning of a conversation is found without parsing the request. Only that
 * origin can read it, so the conversation should be sent there again.
 *
 * Null for what any provider can read.
 */
export function bindingOrigin(seal: Seal | undefined): Origin | null {
  return seal?.origin && !isUnbound(seal) ? seal.origin : null;
}

type CallNotation = Pick<ClientApi, 'callMark' | 'resultId'>;

/** Of the newest calls alone: where earlier ones were made says nothing of where the conversation is now. */
export function newestCallResultIds(body: Buffer, { callMark, resultId }: CallNotation): string[] {
  return newestResultIds(body.subarray(Math.max(0, body.lastIndexOf(`"${callMark}"`))), resultId);
}

const quote = 0x22;
/** More parallel calls than models make. */
const maxResults = 64;
const longestId = 256;
const backslash = 0x5c;

/**
 * The ids of a conversation's newest tool results, newest first, if they are written without escapes.
 * @param name the member in which the client's API has them
 */
export function newestResultIds(body: Buffer, name: string, maxIds = maxResults): string[] {
  const resultId = Buffer.from(`"${name}"`);
  const ids: string[] = [];
  let at = body.lastIndexOf(resultId);
  while (at > 0 && ids.length < maxIds) {
    // Within a text, quotes are escaped.
    const id = body[at - 1] === backslash ? null : idAfter(body, at + resultId.length);
    if (id !== null) ids.push(id);
    at = body.lastIndexOf(resultId, at - 1);
  }
  return ids;
}

function idAfter(body: Buffer, at: number): string | null {
  const start = body.indexOf(quote, at) + 1;
  const end = start === 0 ? -1 : body.indexOf(quote, start);
  return end === -1 || end - start > longestId ? null : body.toString('utf8', start, end);
}

/** Google, "Thought signatures": accepted in place of a signature that is not available. gemini-cli sends it too. */
export const placeholderSignature = 'skip_thought_signature_validator';
