import type { SentRequest } from '../../../server/contract/sent-request.ts';
import { parseJson } from '../calls/json-path.ts';
import { apiOfUrl } from '../captured/api-of-url.ts';
import { readSentChat, type SentChat } from './read-sent.ts';

/**
 * A request as the chat panel can open it. `missing`: its body was not kept completely. `other`: it is not a
 * conversation.
 */
export type ParsedSentRequest = { kind: 'chat'; chat: SentChat; api: string } | { kind: 'missing' } | { kind: 'other' };

export function parseSentRequest(sent: SentRequest): ParsedSentRequest {
  if (sent.kind === 'missing') return sent;
  const api = apiOfUrl(sent.path);
  // Other APIs, such as embeddings, also have an `input`.
  const chat = api === null ? null : readSentChat(parseJson(sent.body), sent.request.modelAsked);
  return api !== null && chat !== null ? { kind: 'chat', chat, api } : { kind: 'other' };
}
