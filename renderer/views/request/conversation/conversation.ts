/** A conversation as the inspector shows it, whichever API it was held in. */
export interface ShownConversation {
  /** What was asked, in order; the answer's messages last. */
  messages: ShownMessage[];
  /** The tools that the model could call. */
  tools: ShownTool[];
}

export interface ShownMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** It is from the response. */
  isAnswer: boolean;
  parts: ShownPart[];
  /** Why the model stopped, in the API's word; null if it does not say. */
  stop: string | null;
}

export type ShownPart =
  | { kind: 'text' | 'refusal' | 'thinking'; text: string }
  | ShownCall
  | { kind: 'result'; callId: string; parts: ShownPart[]; isError: boolean }
  | ShownMedia
  /** What only one API knows; as JSON. */
  | { kind: 'other'; name: string; json: string };

export interface ShownCall {
  kind: 'call';
  id: string;
  name: string;
  /** As the model wrote it: JSON mostly. */
  input: string;
  /** Null while there is none in the request. */
  result: { parts: ShownPart[]; isError: boolean } | null;
}

export interface ShownMedia {
  kind: 'media';
  medium: 'image' | 'audio' | 'video' | 'file';
  /** A `data:` URL, or where it lies; null if only its id is known. */
  url: string | null;
  /** File name, else the provider's id of it, else its media type. */
  name: string;
}

export interface ShownTool {
  name: string;
  description: string;
}
