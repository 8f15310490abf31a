/** What a translation has to know of the API that the client speaks. Each API states it in its own folder. */
import type { ConversationWire } from '../../contract/operations.ts';

/** A field of the neutral conversation. */
export type FieldName =
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'answers'
  | 'logprobs'
  | 'logitBias'
  | 'maxOutputTokens'
  | 'stopSequences'
  | 'format'
  | 'reasoning'
  | 'verbosity'
  | 'toolChoice'
  | 'strictTool'
  | 'parallelToolCalls'
  | 'user'
  | 'cacheKey'
  | 'serviceTier'
  | 'metadata'
  | 'messages';

/**
 * OpenAI accepts up to 64 characters. Anthropic: `^[a-zA-Z0-9_-]+$` (API reference), limited to 64 here as well.
 * Mistral: exactly nine letters or digits (API reference). Gemini accepts any id, or none.
 */
export type CallIdRule = 'openai' | 'anthropic' | 'mistral' | 'any';

export interface ClientApi {
  readonly wire: ConversationWire;
  /** The API's names of the fields, so that losses are reported in the client's terms. Absent: fields that it lacks. */
  readonly fieldNames: Readonly<Partial<Record<FieldName, string>>>;
  /** Which ids its clients accept for calls. */
  readonly callIds: CallIdRule;
  /** Whether its calls have a field for a seal. If not, the seal is put into a thought before the call. */
  readonly hasSealedCalls: boolean;
  /** Whether a seal may come after what it belongs to, other than as a thought of its own. */
  readonly takesLateSeals: boolean;
  /** A string that every call has, and no result. */
  readonly callMark: string;
  /** The member by which a result names its call. */
  readonly resultId: string;
  /** Whether its answers tell a model's refusal from other texts. If not, the stop reason does. */
  readonly hasRefusals: boolean;
  /** Whether its answers cite pages by their address alone. */
  readonly hasCitations: boolean;
  /** Whether its clients receive arguments as an object, or parse them without checking that they are complete. */
  readonly wantsWholeArguments: boolean;
  /**
   * A request with the fields that another API may lack. Translating it shows what a route would lose before there is a
   * request. Fields that change the meaning of the answer are not included, because a request with those is refused.
   */
  readonly specimen: Readonly<Record<string, unknown>>;
}
