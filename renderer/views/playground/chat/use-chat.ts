import { useEffect, useEffectEvent, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { sentRequestOf } from '../../../../server/contract/sent-request.ts';
import { createDataLineReader, type Outcome } from '../../../state/calls/exchange.ts';
import { parseJson } from '../../../state/calls/json-path.ts';
import {
  beginAnswer,
  findMessage,
  isWordless,
  type Turn,
  toMessages,
  withChunk,
  withNewVersion,
  withUserInput,
} from '../../../state/chat/conversation.ts';
import { type Chat, emptyChat, readChat, writeChat } from '../../../state/chat/kept-chat.ts';
import { type ParsedSentRequest, parseSentRequest, type SentChat } from '../../../state/chat/read-sent.ts';
import { chatParameters, schemaOf } from '../../../state/chat/sampling.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { chosenByUse } from '../../../state/choices/use-model-choice.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';

/**
 * The conversations of the chat panel: a message is sent to each model, and each conversation continues independently.
 */
export function useChat(keyChoice: KeyChoice, firstModel: string) {
  const [chat, change] = useSessionFields(chatSession);
  const runners = [
    useExchange(keyChoice, chatExchanges[0]),
    useExchange(keyChoice, chatExchanges[1]),
    useExchange(keyChoice, chatExchanges[2]),
    useExchange(keyChoice, chatExchanges[3]),
  ] as const;
  const models = [firstModel, ...chat.otherModels];
  const toolList = chat.tools.trim() ? parseJson(chat.tools) : [];
  const body = (model: string, turns: readonly Turn[]) => ({
    model,
    messages: toMessages(chat.system, turns),
    stream: true,
    ...chatParameters(chat.sampling),
    ...(Array.isArray(toolList) && toolList.length > 0 && { tools: toolList }),
  });

  /** Resolves with false if the answer failed before its first word. */
  const answer = async (lane: number, turns: readonly Turn[]): Promise<boolean> => {
    const model = models[lane] ?? '';
    let turn = beginAnswer(turns, model);
    const show = (next: Turn) => {
      turn = next;
      setLane(lane, [...turns, turn]);
    };
    show(turn);
    const reader = createDataLineReader((chunk) => show(withChunk(turn, chunk)));
    const runner = runners[lane] ?? runners[0];
    const outcome = await runner.attempt({ path: '/chat/completions', body: body(model, turns) }, reader);
    show({ ...turn, failure: outcome.failure, requestId: requestIdOf(lane, outcome) });
    return outcome.failure === null || !isWordless(turn);
  };

  const send = async () => {
    const { text, image, lanes, editing } = chat;
    const imageUrl = image && (await readAsDataUrl(image));
    const nextLanes = lanes.map((turns) => {
      const index = editing ? findMessage(turns, editing.message, editing.index) : -1;
      if (index === -1) return withUserInput(turns, text, imageUrl);
      return withNewVersion(turns, index, { text, image: imageUrl });
    });
    change({ text: editing?.draft ?? '', image: null, lostFile: false, editing: null });
    const succeeded = await Promise.all(nextLanes.map((turns, lane) => answer(lane, turns)));
    // Of several models, each shows its failure below the message, and is asked again there.
    if (lanes.length > 1 || succeeded.includes(true)) return;
    // The answer failed before its first word, so the message returns to the input, before anything typed meanwhile.
    const current = chatSession.get();
    change({
      lanes,
      image: current.image ?? image,
      ...(editing
        ? { text, editing: { ...editing, draft: current.text } }
        : { text: [text, current.text].filter(Boolean).join('\n') }),
    });
  };
  /** Asks again for an answer. It replaces the old one, and what followed it, unless it fails before its first word. */
  const regenerate = async (lane: number, index: number) => {
    const old = chat.lanes[lane] ?? [];
    const replaced = old[index];
    const succeeded = await answer(lane, old.slice(0, index));
    if (!succeeded && replaced && !isWordless(replaced)) setLane(lane, old);
  };
  return {
    chat,
    change,
    runners,
    areToolsWrong: !Array.isArray(toolList),
    isIncomplete:
      chat.text.trim() === '' ||
      !Array.isArray(toolList) ||
      schemaOf(chat.sampling) === null ||
      chat.otherModels.some((model) => model.trim() === ''),
    /** Per lane, the failure that no turn shows, because the answer failed before its first word, with the request behind it. */
    failures: chat.lanes.map((turns, lane) => {
      const { failure = null, requestId = null } = runners[lane]?.exchange ?? {};
      const last = turns.at(-1);
      // Of an answer without a word, the turn is about to show it.
      const isShown = last?.failure === failure || (last?.failure === null && isWordless(last));
      return { failure: isShown ? null : failure, requestId };
    }),
    isRunning: runners.some(({ isRunning }) => isRunning),
    send,
    regenerate,
    stop: () => {
      for (const runner of runners) runner.stop();
    },
  };
}

/** Also works after the screen has been left. */
function setLane(lane: number, turns: readonly Turn[]): void {
  chatSession.set((old) => (lane < old.lanes.length ? { ...old, lanes: old.lanes.with(lane, turns) } : old));
}

function requestIdOf(lane: number, { failure }: Outcome): string | null {
  if (failure?.kind === 'keyless' || failure?.kind === 'unreachable') return null;
  return chatExchanges[lane]?.get()?.requestId ?? null;
}

/** Reads the file as a `data:` URL. */
function readAsDataUrl(file: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
  return promise;
}

/** State of the chat panel that outlives its screen, and but for the file its page too: conversations, input and parameters. */
interface ChatSession extends Chat {
  /** Attached to the input. */
  image: File | null;
}

const chatSession = createSessionValue<ChatSession>({ ...emptyChat, image: null });

/** The last exchange of each lane. */
export const chatExchanges = [
  createExchangeStore(),
  createExchangeStore(),
  createExchangeStore(),
  createExchangeStore(),
] as const;

/** The new lane begins a conversation of its own, with a model still to be chosen. */
export function addLane(): void {
  chatSession.set((old) => ({
    ...old,
    lanes: [...old.lanes, []],
    otherModels: [...old.otherModels, ''],
  }));
}

/** @param lane not the first */
export function removeLane(lane: number): void {
  chatSession.set((old) => ({
    ...old,
    lanes: old.lanes.toSpliced(lane, 1),
    otherModels: old.otherModels.toSpliced(lane - 1, 1),
  }));
  for (const [index, store] of chatExchanges.entries()) {
    if (index >= lane) store.set(chatExchanges[index + 1]?.get() ?? null);
  }
}

export function beginNewChat(): void {
  chatSession.set((old) => ({ ...old, lanes: old.lanes.map(() => []), editing: null, lostFile: false }));
  for (const store of chatExchanges) store.set(null);
  keep();
}

const storageName = 'sluice.chat';

/** Whose conversation it is; undefined until that is known, and empty on a machine without people. */
let person: string | undefined;

/** Brings back what the window had before it was reloaded, for the person who had it. */
export function useKeptChat(): void {
  const present = useControlState(({ views }) => (views === null ? undefined : (views.status.person?.id ?? '')));
  useEffect(() => {
    if (present === undefined || present === person) return;
    // Of whoever was signed in before, nothing is left.
    if (person !== undefined) chatSession.set({ ...emptyChat, image: null });
    person = present;
    const kept = readChat(stored() ?? '', person);
    if (!kept || writeChat({ chat: contentNow(), model: null }, person) !== null) return;
    chatSession.set({ ...kept.chat, image: null });
    const { model } = kept;
    if (model !== null) chosenByUse.set((old) => ({ chat: model, ...old }));
  }, [present]);
}

addEventListener('pagehide', keep);

/** Until the window is closed. If storage is unavailable, the conversation lasts as long as the page. */
function keep(): void {
  if (person === undefined) return;
  const text = writeChat({ chat: contentNow(), model: chosenByUse.get().chat ?? null }, person);
  try {
    if (text === null) sessionStorage.removeItem(storageName);
    else sessionStorage.setItem(storageName, text);
  } catch {
    // Storage may be unavailable in a private window.
  }
}

function stored(): string | null {
  try {
    return sessionStorage.getItem(storageName);
  } catch {
    return null;
  }
}

/** As it is if the page ends now: answers that are on their way are stopped. */
function contentNow(): Chat {
  const { image, ...chat } = chatSession.get();
  const lanes = chat.lanes.map((turns, lane) => {
    const last = turns.at(-1);
    const isRunning = last?.role === 'assistant' && chatExchanges[lane]?.get()?.isRunning;
    return isRunning ? turns.with(-1, { ...last, failure: { kind: 'stopped' } }) : turns;
  });
  return { ...chat, lanes, lostFile: chat.lostFile || image !== null };
}

/** Puts a message of the person into the input. Sent, it takes the place of that message and of all that followed. */
export function beginEdit(lane: number, index: number): void {
  chatSession.set((old) => {
    const message = old.lanes[lane]?.[index];
    if (message === undefined) return old;
    return { ...old, text: message.text, editing: { message, index, draft: old.editing?.draft ?? old.text } };
  });
}

export function cancelEdit(): void {
  chatSession.set((old) => (old.editing ? { ...old, text: old.editing.draft, editing: null } : old));
}

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
  chatSession.set({ ...emptyChat, lanes: [turns], text, system, tools, sampling, image: null });
}
