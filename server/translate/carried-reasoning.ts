/**
 * Carries what a provider wants back unread (a signature, encrypted reasoning) through a client of another API, in the
 * field that this client echoes anyway. The envelope names who sealed it, for nobody else can read it: Anthropic binds a
 * signature to its model, newer ones to the account; OpenAI to the organisation.
 *
 * The envelope is base64, as Google's clients expect of a `thoughtSignature`.
 */
import type { Origin, Seal, SealKind } from './neutral.ts';

const mark = 'sl1';
/** How each envelope begins: `sl1` and a zero byte, as far as they alone decide it. */
const beginning = Buffer.from(`${mark}\0`).toString('base64').slice(0, 5);
const kinds = ['signature', 'redacted', 'encrypted', 'thought-signature', 'plain'] as const;

/** What a client is given. */
export function wrapSeal({ kind, data, itemId, origin }: Seal): string {
  const { provider = '', model = '', account = '' } = origin ?? {};
  return Buffer.from([mark, provider, model, account, kind, itemId ?? '', data].join('\0')).toString('base64');
}

/** What a client sent back: with its origin from an envelope, or bare, as the provider of the client's own API made it. */
export function unwrapSeal(text: string, bareKind: SealKind): Seal {
  if (!text.startsWith(beginning)) return { kind: bareKind, data: text };
  const [first, provider, model, account, kindName, itemId, ...rest] = Buffer.from(text, 'base64')
    .toString()
    .split('\0');
  const kind = kinds.find((known) => known === kindName);
  if (first !== mark || kind === undefined || provider === undefined) return { kind: bareKind, data: text };
  const seal: Seal = { kind, data: rest.join('\0'), origin: { provider, model: model ?? '', account: account ?? '' } };
  return itemId ? { ...seal, itemId } : seal;
}

/** Whether `reader` can open it. A bare one comes from a provider of the client's own API, which the reader is not. */
export function opensFor(seal: Seal | undefined, reader: Origin): seal is Seal {
  const origin = seal?.origin;
  if (origin === undefined) return false;
  return origin.provider === reader.provider && origin.model === reader.model && origin.account === reader.account;
}
