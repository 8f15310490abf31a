import type { SentRequest } from '../../state/sent-request.ts';
import { parseJson } from './json-path.ts';
import { type ReadChat, readSentChat } from './read-sent.ts';

/** What the chat bench can open of a request. `missing`: its body was not kept whole. `other`: it is no conversation. */
export type OpenableRequest = { kind: 'chat'; chat: ReadChat; path: string } | { kind: 'missing' } | { kind: 'other' };

export function openable(sent: SentRequest): OpenableRequest {
  if (sent.kind === 'missing') return sent;
  const chat = readSentChat(parseJson(sent.body), sent.request.modelAsked);
  return chat ? { kind: 'chat', chat, path: sent.path } : { kind: 'other' };
}
