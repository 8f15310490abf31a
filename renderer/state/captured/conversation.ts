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
