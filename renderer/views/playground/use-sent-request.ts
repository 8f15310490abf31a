import { useEffect, useEffectEvent, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { QueryResults } from '../../../server/contract/queries.ts';
import { sentRequestOf } from '../../state/sent-request.ts';
import { useQuery } from '../../state/use-query.ts';
import { chatSession } from './chat-session.ts';
import { parseJson } from './json-path.ts';
import { type ReadChat, readSentChat } from './read-sent.ts';

/** `opened`: it stands in the bench. `missing`: its body was not captured, or is no chat request. */
export type SentRequest = { id: string; state: 'opened' | 'missing' } | null;

/** Opens a captured request that the address names: `/playground?from=req_…`. What stood in the bench before is replaced. */
export function useSentRequest(): SentRequest {
  const from = new URLSearchParams(useSearch()).get('from');
  const [, goTo] = useLocation();
  const [shown, setShown] = useState<SentRequest>(null);
  const { answer, problem } = useQuery<'request'>(from === null ? null : { type: 'request', id: from });
  const settle = useEffectEvent((id: string, sent: ReadChat | null) => {
    if (sent) open(sent);
    setShown({ id, state: sent ? 'opened' : 'missing' });
    const model = sent?.model ? `?model=${encodeURIComponent(sent.model)}` : '';
    goTo(`/playground/chat${model}`, { replace: true });
  });
  useEffect(() => {
    if (from !== null && answer?.request.id === from) settle(from, chatIn(answer));
    else if (from !== null && problem) settle(from, null);
  }, [from, answer, problem]);
  return shown;
}

function chatIn(answer: QueryResults['request']): ReadChat | null {
  const sent = sentRequestOf(answer);
  return sent.kind === 'kept' ? readSentChat(parseJson(sent.body)) : null;
}

function open({ turns, text, system, tools, sampling }: ReadChat): void {
  chatSession.set((old) => ({ ...old, lanes: [turns], text, system, tools, sampling, image: null }));
}
