/** The chat panel's content as text, which outlives a reload of its window. Pure. */
import { isObject } from '../../../server/contract/is-object.ts';
import { at, listAt, parseJson, textAt } from '../calls/json-path.ts';
import { emptyTurn, type Turn } from './conversation.ts';
import { noParameters, type SamplingDraft } from './sampling.ts';

export interface Chat {
  /** One conversation per model, side by side. */
  lanes: readonly (readonly Turn[])[];
  /** The models of the lanes after the first, which has the panel's. */
  otherModels: readonly string[];
  /** The message to which the input is a new version; null for a new message. */
  editing: { message: Turn; index: number /** What was in the input before. */; draft: string } | null;
  text: string;
  /** A file was attached to the input, and is gone. */
  lostFile: boolean;
  system: string;
  tools: string;
  sampling: SamplingDraft;
}

export const emptyChat: Chat = {
  lanes: [[]],
  otherModels: [],
  editing: null,
  text: '',
  lostFile: false,
  system: '',
  tools: '',
  sampling: noParameters,
};

interface Kept {
  chat: Chat;
  /** That was chosen for the first lane; null if it was proposed. */
  model: string | null;
}

/** Browsers keep about five million characters for all of a window. */
const mostChars = 3_000_000;
const mostImageChars = 1_000_000;

/** Without images that are too large. Null if there is nothing to keep, or more than any model could be sent. */
export function writeChat({ chat, model }: Kept, person: string): string | null {
  if (JSON.stringify(chat) === JSON.stringify(emptyChat)) return null;
  const write = (mostImage: number) => {
    const trim = (turn: Turn): Turn =>
      (turn.image?.length ?? 0) > mostImage ? { ...turn, image: null, lostImage: true } : turn;
    const { lanes, editing } = chat;
    const trimmed: Chat = {
      ...chat,
      lanes: lanes.map((turns) => turns.map(trim)),
      editing: editing && { ...editing, message: trim(editing.message) },
    };
    return JSON.stringify({ person, model, chat: trimmed });
  };
  return [write(mostImageChars), write(0)].find(({ length }) => length <= mostChars) ?? null;
}

/** Null if it is somebody else's, or was not written by this version. */
export function readChat(text: string, person: string): Kept | null {
  const kept = parseJson(text);
  const chat = at(kept, 'chat');
  const lanes = listAt(chat, 'lanes');
  if (textAt(kept, 'person') !== person || lanes.length === 0 || !isChat(chat)) return null;
  return { chat: { ...emptyChat, ...chat }, model: textAt(kept, 'model') ?? null };
}

function isChat(value: unknown): value is Partial<Chat> {
  const isTurn = (turn: unknown) => isObject(turn) && Object.keys(emptyTurn).every((name) => name in turn);
  return isObject(value) && listAt(value, 'lanes').every((turns) => Array.isArray(turns) && turns.every(isTurn));
}
