/**
 * A conversation in a form that is independent of any API: every client wire is parsed into it, and every upstream wire
 * is rendered from it. It contains everything that at least two APIs can express; the parser reports anything else as a
 * loss.
 *
 * Parsers establish these invariants: absent and `null` are the same, texts are unchanged, the order of parts is kept,
 * and nothing depends on time or randomness, so that the same history renders to the same bytes in each turn.
 */
import type { ConversationWire, UpstreamWire } from '../../contract/operations.ts';
import type { ClientApi } from './client-api.ts';
import type { Losses } from './losses.ts';

/** A wire that clients use. */
export type WireName = ConversationWire;
/** A wire by which providers are called. */
export type UpstreamWireName = UpstreamWire;

export interface Conversation {
  /** The API that the client speaks. */
  client: ClientApi;
  /** The client's name for the model. */
  model: string;
  /** Everything before the first turn: system and developer messages, `instructions`, `systemInstruction`. */
  instructions: TextPart[];
  turns: Turn[];
  tools: Tool[];
  toolChoice?: ToolChoice | undefined;
  /** False allows at most one call per turn. */
  parallelToolCalls?: boolean | undefined;
  /** In tokens, including thinking. */
  maxOutputTokens?: number | undefined;
  sampling: Sampling;
  stopSequences: string[];
  format?: AnswerFormat | undefined;
  reasoning?: ReasoningRequest | undefined;
  verbosity?: string | undefined;
  stream: boolean;
  /** Whether a chat client asked for a chunk with the usage. */
  streamUsage: boolean;
  /** The client's end user, as the client identifies them. */
  user?: string | undefined;
  /** Requests with the same key have a common prefix. */
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
  /** Number of alternative answers requested. */
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
  /** none, minimal, low, medium, high, xhigh or max; `none` disables reasoning. */
  effort?: string | undefined;
  /** In tokens; 0 disables reasoning. A request has either an effort or a budget. */
  budgetTokens?: number | undefined;
  /** Whether the client shows thoughts. Undefined: the default of its API. */
  isVisible?: boolean | undefined;
}

export interface Turn {
  /** `system` is a system message between the others. Tool results are in `user` turns. */
  role: 'user' | 'assistant' | 'system';
  parts: Part[];
}

export type Part = TextPart | RefusalPart | MediaPart | ThinkingPart | CallPart | ResultPart | ForeignPart;

interface Placed {
  /** Path in the client's request, such as `messages[4].content[1]`; empty for parts that Sluice added. */
  at: string;
}

export interface TextPart extends Placed {
  type: 'text';
  text: string;
  /** Written in place of something else, so that it continues no text beside it. */
  isApart?: boolean | undefined;
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
  /** An id that is known only to the provider to which the file was uploaded. */
  | { type: 'file'; id: string; mediaType?: string | undefined }
  | { type: 'text'; text: string };

export interface ThinkingPart extends Placed {
  type: 'thinking';
  /** Empty if the provider does not reveal it. */
  text: string;
  seal?: Seal | undefined;
}

/** Opaque data that a provider expects back: a signature, or the encrypted reasoning itself. */
export interface Seal {
  kind: SealKind;
  data: string;
  /** Undefined if it came without an envelope, and is therefore from a provider of the client's own API. */
  origin?: Origin | undefined;
  /** Id of an OpenAI reasoning item. */
  itemId?: string | undefined;
  /** The thought itself, for a client that returns seals without it. */
  text?: string | undefined;
  /** Where it stood in its answer, for a client that returns seals apart from texts and calls. */
  place?: Place | undefined;
  /** It is that of the next call, for a client whose calls have no field for it. */
  isOfCall?: true;
}

export interface Place {
  /** The calls before it. That of a call itself: its position among the calls. */
  calls: number;
  /** The length of the text before it. */
  text: number;
}

/**
 * `members`: members of a chat's message or call that only its provider understands, as JSON. `plain`: only the text itself
 * has to be returned, by a chat in the members of `data`, if there are any.
 */
export type SealKind = 'signature' | 'redacted' | 'encrypted' | 'thought-signature' | 'members' | 'plain';

/** Where a seal was created; it is valid only there. */
export interface Origin {
  /** The provider's id in the configuration. */
  provider: string;
  /** The provider's name for the model. */
  model: string;
  /** Identifies the credential without revealing it. */
  account: string;
}

export interface CallPart extends Placed {
  type: 'call';
  id: string;
  name: string;
  /** Namespace of a Responses tool. */
  namespace?: string | undefined;
  /** For `function` the JSON text as the model wrote it, for `custom` free text. */
  arguments: string;
  kind: 'function' | 'custom';
  /** The type of the client's tool, if its calls are no functions in the client's API. */
  ownType?: string | undefined;
  /** Gemini puts its thought signatures beside the calls. */
  seal?: Seal | undefined;
}

export interface ResultPart extends Placed {
  type: 'result';
  callId: string;
  parts: (TextPart | MediaPart)[];
  isError: boolean;
}

/** A part that only the client's API knows, such as the items of a tool that its provider runs. */
export interface ForeignPart extends Placed {
  type: 'foreign';
  /** Its name in the client's API. */
  name: string;
}

export interface Tool extends Placed {
  kind: 'function' | 'custom';
  name: string;
  namespace?: string | undefined;
  description?: string | undefined;
  /** Undefined if the tool takes no input. Always undefined for a custom tool. */
  schema?: JsonSchema | undefined;
  strict?: boolean | undefined;
  /** For a custom tool, the grammar of its input in OpenAI's notation. */
  format?: Record<string, unknown> | undefined;
  /** The tool as the client sent it, if its API has items of their own for the tool's calls. */
  own?: { type: string; [member: string]: unknown } | undefined;
}

export type ToolChoice =
  | { mode: 'auto' | 'none' | 'required' }
  | { mode: 'named'; name: string }
  | { mode: 'subset'; names: string[]; isRequired: boolean };

// Adds the text of a system message: before the conversation, or as a turn at its position.

/** System messages of other APIs contain only text, so media become a user turn directly after it. */
export function addSystem(
  { instructions, turns }: Pick<Conversation, 'instructions' | 'turns'>,
  parts: readonly Part[],
  losses: Losses,
): void {
  const texts: TextPart[] = [];
  const media: MediaPart[] = [];
  for (const part of parts) {
    if (part.type === 'text') texts.push(part);
    else if (part.type === 'refusal') texts.push({ ...part, type: 'text' });
    else if (part.type === 'media') {
      losses.emulated(part.at, 'moved-media');
      media.push(part);
    } else losses.dropped(part.at, 'provider-item');
  }
  if (turns.length === 0) for (const text of texts) instructions.push(text);
  else if (texts.length > 0) turns.push({ role: 'system', parts: texts });
  if (media.length > 0) turns.push({ role: 'user', parts: media });
}
