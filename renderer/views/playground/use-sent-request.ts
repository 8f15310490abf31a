import { useEffect, useEffectEvent, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { sentRequestOf } from '../../../server/contract/sent-request.ts';
import { useQuery } from '../../state/use-query.ts';
import { chatSession } from './chat-session.ts';
import { type OpenableRequest, openable } from './openable.ts';
import type { ReadChat } from './read-sent.ts';

/** The outcome of opening a request; null if none was to be opened. */
export type OpenedRequest =
  | { id: string; state: 'opened' /** Null for the bench's own. */; api: string | null; leftOut: readonly string[] }
  | { id: string; state: Exclude<OpenableRequest['kind'], 'chat'> }
  | null;

const benchApi = 'OpenAI Chat Completions';

/** Opens the captured request named in the address, `/playground?from=req_…`, and replaces the content of the bench. */
export function useSentRequest(): OpenedRequest {
  const from = new URLSearchParams(useSearch()).get('from');
  const [, goTo] = useLocation();
  const [shown, setShown] = useState<OpenedRequest>(null);
  const { answer, problem } = useQuery<'request'>(from === null ? null : { type: 'request', id: from });
  const settle = useEffectEvent((id: string, sent: OpenableRequest) => {
    if (sent.kind === 'chat') {
      open(sent.chat);
      const api = sent.api === benchApi ? null : sent.api;
      setShown({ id, state: 'opened', api, leftOut: sent.chat.leftOut });
    } else setShown({ id, state: sent.kind });
    const model = sent.kind === 'chat' && sent.chat.model ? `?model=${encodeURIComponent(sent.chat.model)}` : '';
    goTo(`/playground/chat${model}`, { replace: true });
  });
  useEffect(() => {
    if (from !== null && answer?.request.id === from) settle(from, openable(sentRequestOf(answer)));
    else if (from !== null && problem) settle(from, { kind: 'missing' });
  }, [from, answer, problem]);
  return shown;
}

function open({ turns, text, system, tools, sampling }: ReadChat): void {
  chatSession.set((old) => ({ ...old, lanes: [turns], text, system, tools, sampling, image: null }));
}
