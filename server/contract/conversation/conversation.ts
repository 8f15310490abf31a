/** A conversation as it is shown, and what is read to make one. */
import { isObject } from '../is-object.ts';

/** A conversation as the inspector shows it, independent of the API. */
export interface ShownConversation {
  /** The request's messages in order, followed by those of the answer. */
  messages: ShownMessage[];
  /** The tools that the model could call. */
  tools: ShownTool[];
}

export interface ShownMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** Whether it is from the response. */
  isAnswer: boolean;
  parts: ShownPart[];
  /** Why the model stopped, in the API's terms; null if unknown. */
  stop: string | null;
}

export type ShownPart =
  | { kind: 'text' | 'refusal' | 'thinking'; text: string }
  | ShownCall
  | { kind: 'result'; callId: string; parts: ShownPart[]; isError: boolean }
  | ShownMedia
  /** Content specific to one API, as JSON. */
  | { kind: 'other'; name: string; json: string };

export interface ShownCall {
  kind: 'call';
  id: string;
  name: string;
  /** As the model wrote it, usually JSON. */
  input: string;
  /** Null if the request contains no result yet. */
  result: { parts: ShownPart[]; isError: boolean } | null;
}

export interface ShownMedia {
  kind: 'media';
  medium: 'image' | 'audio' | 'video' | 'file';
  /** A `data:` URL or the address; null if only the id is known. */
  url: string | null;
  /** The file name if known; otherwise the provider's id, the media type or the URL. */
  name: string;
}

export interface ShownTool {
  name: string;
  description: string;
}

/**
 * Where the newest turn begins: the index of the first message that the client added to what it had sent before: the one after the last answer that it
 * sends back. Null if it sends none back, or has added only results, which stand beside their calls.
 */
export function firstNewOf(messages: readonly Pick<ShownMessage, 'role' | 'isAnswer'>[]): number | null {
  const lastAnswered = messages.findLastIndex(({ role, isAnswer }) => role === 'assistant' && !isAnswer);
  const first = lastAnswered + 1;
  return lastAnswered === -1 || messages[first] === undefined || messages[first].isAnswer ? null : first;
}

/** Reads untrusted JSON: unexpected values become empty ones, and nothing is thrown. */
export type Json = Record<string, unknown>;

export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The elements of a list that are objects. */
export const objectsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
