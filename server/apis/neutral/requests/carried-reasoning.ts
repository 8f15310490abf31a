/**
 * Carries opaque data that a provider expects back (a signature, encrypted reasoning) through a client of another API,
 * in a field that this client returns anyway. The envelope names the origin, because only the origin can read the
 * content: Anthropic binds a signature to its model (newer ones also to the account), and OpenAI to the organisation.
 *
 * The envelope is base64, as Google's clients expect of a `thoughtSignature`, and says whether it is whole: what a client
 * has changed or cut off would be refused by the origin.
 */
import { crc32 } from 'node:zlib';
import type { Origin, Seal, SealKind } from '../conversation.ts';

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
