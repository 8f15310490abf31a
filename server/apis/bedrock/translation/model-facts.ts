/**
 * The features that each family of models on Bedrock supports through Converse. As of 2026-11-23. Claude is not among
 * them: it is called through Anthropic's own API.
 *
 * Sources: Amazon Bedrock user guide, "Supported models and model features" (system prompts), "Prompt caching"; API
 * reference, `ToolChoice`; Amazon Nova user guide, "Tool use", "Extended thinking"; langchain-ai/langchain-aws
 * (`bedrock_converse.py`: which tool choices each family accepts); earendil-works/pi#3739 (no tools in streams of
 * Llama); browser-use/browser-use#710 (Llama and Mistral: no other content beside tool results);
 * langchain-ai/langchain-aws#401 and strands-agents/sdk-python#780 (DeepSeek refuses its own reasoning in the history);
 * vercel/ai (Mistral's call ids).
 *
 * Sources for structured output, which is otherwise emulated by a tool or in the prompt: [list] Amazon Bedrock user
 * guide, "Get validated JSON results from models", "Supported models" (February 2026; later editions refer to the model
 * cards); [card] the model's card there, "Features supported using bedrock-runtime endpoint"; [tried]
 * BerriAI/litellm#35655, which tried them and quotes their cards; [models.dev] anomalyco/models.dev, Amazon Bedrock.
 */
import { createFamilies } from '../../../models/model-facts.ts';

export interface ConverseFacts {
  /** False if streamed requests with tools are refused; a whole answer is then requested. */
  streamsTools: boolean;
  /** Accepted members of `toolChoice` besides `auto`. `any`: forcing a tool by its name is not supported. */
  forcedTool: 'named' | 'any' | 'none';
  /** Supports a JSON schema for answers (`outputConfig`) and for tool arguments (`strict`). */
  structuredOutput: boolean;
  /** Accepts only `type`, `properties` and `required` at the top of a tool's schema. */
  plainSchemas: boolean;
  callIds: 'anthropic' | 'mistral';
  /** Accepts `system`. */
  system: boolean;
  /** Text and media may follow tool results in the same message. */
  mixedResults: boolean;
  /** Accepts `cachePoint` in `system` and `messages`. */
  cachePoints: boolean;
  /** The field of `additionalModelRequestFields` that controls how much the model thinks. */
  effortField: 'reasoning_effort' | 'reasoningConfig' | null;
  efforts: readonly string[];
  /** Accepts `reasoningContent` of earlier turns. */
  takesReasoning: boolean;
}

/** Unlisted models get only what all models accept. Bedrock itself reports anything that they do not accept. */
const other: ConverseFacts = {
  streamsTools: true,
  forcedTool: 'none',
  structuredOutput: false,
  plainSchemas: false,
  callIds: 'anthropic',
  system: true,
  mixedResults: true,
  cachePoints: false,
  effortField: null,
  efforts: [],
  takesReasoning: true,
};
const nova: ConverseFacts = {
  ...other,
  forcedTool: 'named',
  plainSchemas: true,
  cachePoints: true,
};
const llama: ConverseFacts = { ...other, streamsTools: false, mixedResults: false };
const mistral: ConverseFacts = { ...other, callIds: 'mistral', mixedResults: false };

const open: ConverseFacts = { ...other, structuredOutput: true };
const openMistral: ConverseFacts = { ...mistral, structuredOutput: true };
const deepseek: ConverseFacts = { ...other, forcedTool: 'any', takesReasoning: false };

const familyOf = createFamilies<ConverseFacts>({
  nova: nova,
  // Its effort `high` refuses `maxTokens`, `temperature` and `topP`.
  'nova-2': { ...nova, effortField: 'reasoningConfig', efforts: ['low', 'medium'] },
  titan: { ...other, system: false },
  deepseek,
  // V3.1: [list]. V3.2: [card].
  'deepseek-v3': { ...deepseek, structuredOutput: true },
  'deepseek-v3.2': { ...deepseek, structuredOutput: true },
  // Both: [list], which lacks the 4B.
  'gemma-3-12b': open,
  'gemma-3-27b': open,
  llama: llama,
  'llama3-8b': { ...llama },
  'llama3-70b': { ...llama },
  // M2: [list]. M2.1: [models.dev]. M2.5: [card].
  'minimax-m2': open,
  'minimax-m2.1': open,
  'minimax-m2.5': open,
  mistral,
  // Magistral, Ministral, Mistral Large 3 and Voxtral: [list].
  magistral: openMistral,
  'ministral-3': openMistral,
  'mistral-7b': { ...mistral, system: false },
  pixtral: mistral,
  mixtral: { ...mistral, system: false },
  'mistral-large-2402': { ...mistral, forcedTool: 'any' },
  'mistral-large-2407': { ...mistral, forcedTool: 'any' },
  'mistral-large-3': openMistral,
  voxtral: openMistral,
  // Kimi K2 Thinking: [list]. K2.5: [card].
  'kimi-k2': open,
  'kimi-k2.5': open,
  // Nano 9B and 12B v2: [list]. Nano 3 30B and Super 3: [models.dev].
  'nemotron-nano': open,
  'nemotron-super': open,
  // [list], including GPT OSS Safeguard.
  'gpt-oss': { ...open, effortField: 'reasoning_effort', efforts: ['low', 'medium', 'high'] },
  // [list]. Coder Next: [card].
  qwen3: open,
  // [tried]
  'glm-5': open,
});

/** @param model `us.meta.llama4-scout-17b-instruct-v1:0`, or an ARN that ends in such a name */
export function converseFacts(model: string): ConverseFacts {
  return familyOf(model) ?? other;
}
