/** Google's signature of a call in chats, and what is accepted in place of one for the calls of other models. */
import { isObject } from '../../../contract/is-object.ts';
import type { ChatFlavour } from '../../core/chat-flavour.ts';
import { placeholderSignature } from '../../neutral/requests/placeholder-signature.ts';

type Json = Record<string, unknown>;

/** What a message has to have in addition: members of its own, or of its first call. Null if nothing is missing. */
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
