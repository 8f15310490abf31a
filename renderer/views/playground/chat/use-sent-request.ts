import { useEffect, useEffectEvent, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { sentRequestOf } from '../../../../server/contract/sent-request.ts';
import { type ParsedSentRequest, parseSentRequest, type SentChat } from '../../../state/chat/read-sent.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { chatSession } from './chat-session.ts';

/** The outcome of opening a request; null if none was to be opened. */
type OpenedRequest =
  | { id: string; state: 'opened' /** Null for the panel's own. */; api: string | null; omitted: readonly string[] }
  | { id: string; state: Exclude<ParsedSentRequest['kind'], 'chat'> }
  | null;

const panelApi = 'OpenAI Chat Completions';

/** Opens the captured request named in the address, `/playground?from=req_…`, and replaces the content of the panel. */
export function useSentRequest(): OpenedRequest {
  const sentId = new URLSearchParams(useSearch()).get('from');
  const [, goTo] = useLocation();
  const [opened, setOpened] = useState<OpenedRequest>(null);
  const { answer, problem } = useQuery<'request'>(sentId === null ? null : { type: 'request', id: sentId });
  const showResult = useEffectEvent((id: string, parsed: ParsedSentRequest) => {
    if (parsed.kind === 'chat') {
      open(parsed.chat);
      const api = parsed.api === panelApi ? null : parsed.api;
      setOpened({ id, state: 'opened', api, omitted: parsed.chat.omitted });
    } else setOpened({ id, state: parsed.kind });
    const model = parsed.kind === 'chat' && parsed.chat.model ? `?model=${encodeURIComponent(parsed.chat.model)}` : '';
    goTo(`/playground/chat${model}`, { replace: true });
  });
  useEffect(() => {
    if (sentId !== null && answer?.request.id === sentId) showResult(sentId, parseSentRequest(sentRequestOf(answer)));
    else if (sentId !== null && problem) showResult(sentId, { kind: 'missing' });
  }, [sentId, answer, problem]);
  return opened;
}

function open({ turns, text, system, tools, sampling }: SentChat): void {
  const opened = { lanes: [turns], otherModels: [], editing: null, text, system, tools, sampling, image: null };
  chatSession.set(opened);
}
