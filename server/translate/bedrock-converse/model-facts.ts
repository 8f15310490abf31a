/**
 * What each family of models on Bedrock accepts through Converse. As of 2026-11-23. Claude is not among them: it is asked in
 * Anthropic's own API.
 *
 * Sources: Amazon Bedrock user guide, "Supported models and model features" (system prompts),
 * "Prompt caching"; API reference, `ToolChoice`; Amazon Nova user guide, "Tool use", "Extended thinking"; langchain-ai/langchain-aws
 * (`bedrock_converse.py`: which tool choices each family accepts); earendil-works/pi#3739 (no tools in streams of Llama);
 * browser-use/browser-use#710 (Llama and Mistral: no other content beside tool results); langchain-ai/langchain-aws#401 and
 * strands-agents/sdk-python#780 (DeepSeek refuses its own reasoning in the history); vercel/ai (Mistral's call ids).
 *
 * Sources for structured output, without which a model is asked through a tool or in the prompt: [list] Amazon Bedrock user guide, "Get
 * validated JSON results from models", "Supported models" (February 2026; later editions refer to the model cards); [card] the
 * model's card there, "Features supported using bedrock-runtime endpoint"; [tried] BerriAI/litellm#35655, which tried them and quotes
 * their cards; [models.dev] anomalyco/models.dev, Amazon Bedrock.
 */
import { familyOf } from '../model-families.ts';

export interface ConverseFacts {
  /** Null if unknown. */
  maxOutputTokens: number | null;
  /** False: requests with tools are refused as streams, so that they are asked for a whole answer. */
  streamsTools: boolean;
  /** Accepted members of `toolChoice` besides `auto`. `any`: not a tool by its name. */
  forcedTool: 'named' | 'any' | 'none';
  /** Answers in a JSON schema (`outputConfig`), and keeps to the schema of a tool (`strict`). */
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
  /** The field of `additionalModelRequestFields` that decides how much the model thinks. */
  effortField: 'reasoning_effort' | 'reasoningConfig' | null;
  efforts: readonly string[];
  /** Accepts `reasoningContent` of earlier turns. */
  takesReasoning: boolean;
}

/**
 * For models that are not listed, only features that all models accept are used. Bedrock rejects what they do not
 * accept.
 */
const other: ConverseFacts = {
  maxOutputTokens: null,
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
  maxOutputTokens: 10_000,
  forcedTool: 'named',
  plainSchemas: true,
  cachePoints: true,
};
const llama: ConverseFacts = { ...other, maxOutputTokens: 8192, streamsTools: false, mixedResults: false };
const mistral: ConverseFacts = { ...other, callIds: 'mistral', mixedResults: false };

const open: ConverseFacts = { ...other, structuredOutput: true };
const openMistral: ConverseFacts = { ...mistral, structuredOutput: true };
const deepseek: ConverseFacts = { ...other, forcedTool: 'any', takesReasoning: false };

const families: Record<string, ConverseFacts> = {
  'amazon.nova': nova,
  'amazon.nova-premier': { ...nova, maxOutputTokens: 32_000 },
  // Its effort `high` refuses `maxTokens`, `temperature` and `topP`.
  'amazon.nova-2': { ...nova, maxOutputTokens: 65_535, effortField: 'reasoningConfig', efforts: ['low', 'medium'] },
  'amazon.titan': { ...other, system: false },
  deepseek,
  // V3.1: list. V3.2: card.
  'deepseek.v3': { ...deepseek, structuredOutput: true },
  // Both: list, where the 4B is missing.
  'google.gemma-3-12b': open,
  'google.gemma-3-27b': open,
  'meta.llama': llama,
  'meta.llama3-8b': { ...llama, maxOutputTokens: 2048 },
  'meta.llama3-70b': { ...llama, maxOutputTokens: 2048 },
  // M2: list. M2.1: models.dev. M2.5: card.
  'minimax.minimax-m2': open,
  mistral,
  // Magistral, Ministral, Mistral Large 3 and Voxtral: list.
  'mistral.magistral': openMistral,
  'mistral.ministral-3-': openMistral,
  'mistral.mistral-7b': { ...mistral, maxOutputTokens: 8192, system: false },
  'mistral.mixtral': { ...mistral, maxOutputTokens: 4096, system: false },
  'mistral.mistral-large-2402': { ...mistral, maxOutputTokens: 8192, forcedTool: 'any' },
  'mistral.mistral-large-2407': { ...mistral, maxOutputTokens: 8192, forcedTool: 'any' },
  'mistral.mistral-large-3': openMistral,
  'mistral.voxtral': openMistral,
  // Kimi K2 Thinking: list. K2.5: card.
  'moonshot.kimi-k2': open,
  'moonshotai.kimi-k2': open,
  // Nano 9B and 12B v2: list. Nano 3 30B and Super 3: models.dev.
  'nvidia.nemotron-nano': open,
  'nvidia.nemotron-super': open,
  // List, with GPT OSS Safeguard.
  'openai.gpt-oss': { ...open, effortField: 'reasoning_effort', efforts: ['low', 'medium', 'high'] },
  // List. Coder Next: card.
  'qwen.qwen3': open,
  // Tried.
  'zai.glm-5': open,
};

/** @param model `us.meta.llama4-scout-17b-instruct-v1:0`, or an ARN that ends in such a name */
export function converseFacts(model: string): ConverseFacts {
  return familyOf(families, withoutRegion(model.slice(model.lastIndexOf('/') + 1).toLowerCase())) ?? other;
}

/** The prefixes of cross-region inference profiles. */
const regions = new Set(['us', 'us-gov', 'eu', 'apac', 'jp', 'au', 'ca', 'sa', 'amer', 'global']);

function withoutRegion(name: string): string {
  const dot = name.indexOf('.');
  return regions.has(name.slice(0, dot)) ? name.slice(dot + 1) : name;
}
