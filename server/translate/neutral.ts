/**
 * A conversation as no single API writes it: what every client wire is parsed into and every upstream wire is rendered
 * from. It holds what two or more APIs can say; what only one knows is told as a loss by the parser that meets it.
 *
 * Invariants that parsers establish: absent and `null` are the same, texts are as the client wrote them, the order of
 * parts is kept, and nothing depends on time or chance, so that the same history renders to the same bytes each turn.
 */

import type { ConversationWire } from '../contract/conversation-wires.ts';

export type WireName = ConversationWire;

export interface Conversation {
  /** The client's. */
  wire: WireName;
  /** As the client named it. */
  model: string;
  /** What stands before the first turn: system and developer messages, `instructions`, `systemInstruction`. */
  instructions: TextPart[];
  turns: Turn[];
  tools: Tool[];
  toolChoice?: ToolChoice | undefined;
  /** False: at most one call a turn. */
  parallelToolCalls?: boolean | undefined;
  /** Tokens, thinking included. */
  maxOutputTokens?: number | undefined;
  sampling: Sampling;
  stopSequences: string[];
  format?: AnswerFormat | undefined;
  reasoning?: ReasoningRequest | undefined;
  verbosity?: string | undefined;
  stream: boolean;
  /** Whether a chat client wants a chunk with the usage. */
  streamUsage: boolean;
  /** Who uses the client, in the client's own notation. */
  user?: string | undefined;
  /** Requests with the same key begin alike. */
  cacheKey?: string | undefined;
  serviceTier?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

export interface Sampling {
  temperature?: number | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  seed?: number | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
  /** How many answers are asked for beside one another. */
  answers?: number | undefined;
  logprobs?: boolean | undefined;
  topLogprobs?: number | undefined;
  logitBias?: Record<string, unknown> | undefined;
}

export type AnswerFormat =
  | { kind: 'json' }
  | {
      kind: 'schema';
      name: string;
      description?: string | undefined;
      schema: JsonSchema;
      strict?: boolean | undefined;
    };

export type JsonSchema = Record<string, unknown>;

export interface ReasoningRequest {
  /** `none` switches it off: none, minimal, low, medium, high, xhigh, max. */
  effort?: string | undefined;
  /** Tokens; 0 switches it off. An API has either an effort or a budget. */
  budgetTokens?: number | undefined;
  /** Whether the client shows thoughts. Undefined: as its API does by default. */
  isVisible?: boolean | undefined;
}

export interface Turn {
  /** `system` is a system message between the others. Tool results stand in `user` turns. */
  role: 'user' | 'assistant' | 'system';
  parts: Part[];
}

export type Part = TextPart | RefusalPart | MediaPart | ThinkingPart | CallPart | ResultPart | ForeignPart;

interface Placed {
  /** Where it stands in the client's request, such as `messages[4].content[1]`; empty where Sluice has added it. */
  at: string;
}

export interface TextPart extends Placed {
  type: 'text';
  text: string;
}

export interface RefusalPart extends Placed {
  type: 'refusal';
  text: string;
}

export interface MediaPart extends Placed {
  type: 'media';
  kind: 'image' | 'document' | 'audio' | 'video';
  source: MediaSource;
  name?: string | undefined;
  /** OpenAI's `detail` of an image. */
  detail?: string | undefined;
}

export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string; mediaType?: string | undefined }
  /** An id that only the provider knows to which the file was uploaded. */
  | { type: 'file'; id: string; mediaType?: string | undefined }
  | { type: 'text'; text: string };

export interface ThinkingPart extends Placed {
  type: 'thinking';
  /** Empty where the provider shows none of it. */
  text: string;
  seal?: Seal | undefined;
}

/** What a provider wants back unread: a signature, or the reasoning itself, encrypted. */
export interface Seal {
  kind: SealKind;
  data: string;
  /** Undefined: it came bare, so that only the provider of the client's own API can have made it. */
  origin?: Origin | undefined;
  /** Of an OpenAI reasoning item. */
  itemId?: string | undefined;
  /** The thought itself, for a client that sends seals back without it. */
  text?: string | undefined;
}

/** `plain`: there is nothing to give back but the text itself. */
export type SealKind = 'signature' | 'redacted' | 'encrypted' | 'thought-signature' | 'plain';

/** Seals open only where they were made. */
export interface Origin {
  /** The provider's id in the configuration. */
  provider: string;
  /** The model as the provider knows it. */
  model: string;
  /** Stands for the credential without telling it. */
  account: string;
}

export interface CallPart extends Placed {
  type: 'call';
  id: string;
  name: string;
  /** Of a Responses tool that stands in a namespace. */
  namespace?: string | undefined;
  /** JSON text as the model wrote it for `function`, free text for `custom`. */
  arguments: string;
  kind: 'function' | 'custom';
  /** Gemini puts its thought signatures beside the calls. */
  seal?: Seal | undefined;
}

export interface ResultPart extends Placed {
  type: 'result';
  callId: string;
  parts: (TextPart | MediaPart)[];
  isError: boolean;
}

/** Something that only the client's API knows, such as the items of a tool that its provider runs. */
export interface ForeignPart extends Placed {
  type: 'foreign';
  /** What its API calls it. */
  name: string;
}

export interface Tool extends Placed {
  kind: 'function' | 'custom';
  name: string;
  namespace?: string | undefined;
  description?: string | undefined;
  /** Undefined: it takes nothing. Of a custom tool always undefined. */
  schema?: JsonSchema | undefined;
  strict?: boolean | undefined;
  /** Of a custom tool, the grammar of its input in OpenAI's notation. */
  format?: Record<string, unknown> | undefined;
}

export type ToolChoice =
  | { mode: 'auto' | 'none' | 'required' }
  | { mode: 'named'; name: string }
  | { mode: 'subset'; names: string[]; isRequired: boolean };
