/**
 * The features that each family of models supports. Only this file and
 * `bedrock/translation/model-facts.ts` know models by name. As of 2026-11-23.
 *
 * Sources: Anthropic, "What's new in Claude Opus 5.5", "… Sonnet 5.5", "Claude Haiku 5.5 migration guide", "Migrating
 * to Claude 4.5" (temperature or top_p, not both), "Mid-conversation system messages", "Structured outputs"; Google,
 * "Thinking", "Function calling", "Thought signatures"; DeepSeek, "Thinking mode"; Moonshot, "Kimi thinking models";
 * OpenAI, each model's page below developers.openai.com/api/docs/models: efforts, "Endpoints", and which models call
 * functions on Chat Completions (others answer "This model is only supported in v1/responses", as in
 * HeyPuter/puter#1303 and egoist/chatwise-releases#1122); Gitlawb/openclaude#1957 on functions of GPT-5.6.
 */
import { canonicalName, compareVersion, foldName, identify } from '../contract/model-identity.ts';

type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';
type ClaudeThinking = 'adaptive' | 'enabled' | 'disabled' | 'between_tools';

export interface ClaudeFacts {
  /** Accepted values of `thinking.type`. */
  thinking: readonly ClaudeThinking[];
  /** Whether the model thinks if `thinking` is absent. */
  thinksByDefault: boolean;
  /** `one`: temperature or top_p, but not both. */
  sampling: 'all' | 'one' | 'none';
  /** Whether `tool_choice` may be `any` or `tool`; `unthinking`: only without thinking. */
  forcedTool: 'yes' | 'unthinking' | 'no';
  /** Accepted values of `output_config.effort`. */
  efforts: readonly Effort[];
  /** Supports `output_config.format` and `strict` tools. */
  structuredOutput: boolean;
  /** Accepts `role: "system"` within `messages`. */
  systemTurns: boolean;
  /** The last message may be the assistant's. */
  prefill: boolean;
  /** A top-level `cache_control` sets a breakpoint at the end of each turn. */
  automaticCache: boolean;
}

const allEfforts: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

const newest: ClaudeFacts = {
  thinking: ['adaptive'],
  thinksByDefault: true,
  sampling: 'none',
  forcedTool: 'no',
  efforts: allEfforts,
  structuredOutput: true,
  systemTurns: false,
  prefill: false,
  automaticCache: true,
};
const opus5: ClaudeFacts = { ...newest, thinking: ['adaptive', 'disabled'], forcedTool: 'yes', systemTurns: true };
const sonnet5: ClaudeFacts = { ...opus5, systemTurns: false };
const opus47: ClaudeFacts = { ...sonnet5, thinksByDefault: false };
const claude46: ClaudeFacts = {
  ...opus47,
  thinking: ['adaptive', 'enabled', 'disabled'],
  sampling: 'one',
  forcedTool: 'unthinking',
  efforts: ['low', 'medium', 'high', 'max'],
};
const claude45: ClaudeFacts = {
  ...claude46,
  thinking: ['enabled', 'disabled'],
  efforts: [],
  prefill: true,
};
const claude4: ClaudeFacts = { ...claude45, sampling: 'all', structuredOutput: false };
const claude3: ClaudeFacts = { ...claude4, thinking: [], forcedTool: 'yes' };

const claudeFamilies = createFamilies<ClaudeFacts>({
  'claude-opus-5-5': { ...newest, systemTurns: true },
  'claude-sonnet-5-5': { ...newest, thinking: ['adaptive', 'between_tools'], systemTurns: true },
  'claude-haiku-5-5': { ...newest, forcedTool: 'unthinking' },
  'claude-fable-5-1': newest,
  'claude-mythos-5-1': newest,
  'claude-fable-5': { ...newest, forcedTool: 'yes' },
  'claude-mythos-5': { ...newest, forcedTool: 'yes' },
  'claude-opus-5': opus5,
  'claude-sonnet-5': sonnet5,
  'claude-opus-4-8': { ...opus47, systemTurns: true },
  'claude-opus-4-7': opus47,
  'claude-opus-4-6': claude46,
  'claude-sonnet-4-6': claude46,
  'claude-opus-4-5': { ...claude45, efforts: ['low', 'medium', 'high'] },
  'claude-sonnet-4-5': claude45,
  'claude-haiku-4-5': claude45,
  'claude-opus-4-1': { ...claude4, sampling: 'one' },
  'claude-sonnet-4': claude4,
  'claude-opus-4': claude4,
  'claude-3-7-sonnet': claude4,
  'claude-instant': claude3,
});

/** Models of other vendors behind Anthropic's API, such as those of DeepSeek, Z.ai and MiniMax. */
const otherBehindAnthropic: ClaudeFacts = {
  ...claude4,
  forcedTool: 'yes',
  automaticCache: false,
};

/** Claude 3.5 and older think not at all. Any other unknown Claude is treated like the newest, which accepts the fewest parameters. */
export function claudeFacts(model: string): ClaudeFacts {
  const known = claudeFamilies(model);
  if (known) return known;
  const identity = identify(model);
  if (!identity.model.startsWith('claude')) return otherBehindAnthropic;
  return compareVersion(identity, [4, 0]) < 0 ? claude3 : newest;
}

export interface GeminiFacts {
  /** Accepted values of `thinkingLevel`; if empty, the model uses `thinkingBudget`. */
  levels: readonly string[];
  leastBudget: number;
  mostBudget: number;
  thinks: boolean;
  /** Where media of a tool's result are placed: within `functionResponse.parts`, or beside it. */
  resultMedia: 'inside' | 'beside';
  /** Calls of the current turn require their thought signature. */
  needsSignatures: boolean;
  takesSystemInstruction: boolean;
}

const gemini3: GeminiFacts = {
  levels: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
  leastBudget: 0,
  mostBudget: 32_768,
  thinks: true,
  resultMedia: 'inside',
  needsSignatures: true,
  takesSystemInstruction: true,
};
const gemini25: GeminiFacts = { ...gemini3, levels: [], resultMedia: 'beside', needsSignatures: false };
const gemini2: GeminiFacts = { ...gemini25, thinks: false };

const geminiFamilies = createFamilies<GeminiFacts>({
  'gemini-3-pro': { ...gemini3, levels: ['LOW', 'MEDIUM', 'HIGH'] },
  'gemini-3-1-pro': { ...gemini3, levels: ['LOW', 'MEDIUM', 'HIGH'] },
  'gemini-2-5-pro': { ...gemini25, leastBudget: 128 },
  'gemini-2-5-flash': { ...gemini25, mostBudget: 24_576 },
  // Names of Gemini 1.0 without a version.
  'gemini-pro': gemini2,
  'gemini-pro-vision': gemini2,
  'gemini-exp': gemini2,
  learnlm: gemini2,
  gemma: { ...gemini2, takesSystemInstruction: false },
});

/** An unknown Gemini is treated as one of its generation, or of the third. */
export function geminiFacts(model: string): GeminiFacts {
  const known = geminiFamilies(model);
  if (known) return known;
  const identity = identify(model);
  if (compareVersion(identity, [2, 5]) < 0) return gemini2;
  return compareVersion(identity, [3, 0]) < 0 ? gemini25 : gemini3;
}

/** Models behind OpenAI's two APIs, at any provider. */
export interface OpenaiFacts {
  /** Turns with calls must be sent back with their `reasoning_content`; Groq refuses it. */
  needsReasoningBack: boolean;
  /** Format of call ids. */
  callIds: 'openai' | 'mistral';
  /** Supports OpenAI's own parameters: `max_completion_tokens`, `prompt_cache_key`, `allowed_tools`, custom tools. */
  isOpenai: boolean;
  /** Accepted values of `reasoning_effort`; empty if the parameter itself is refused. */
  efforts: readonly string[];
  /** OpenAI, "Using GPT-5": reasoning models refuse temperature and top_p. */
  takesSampling: boolean;
  /**
   * What `POST /v1/chat/completions` supports for a model that also has the Responses API: everything; nothing;
   * everything but functions; or functions only without a `reasoning_effort`, or only with the effort `none`, which
   * then is no default.
   */
  chat: 'all' | 'functions-without-effort' | 'functions-with-none' | 'no-functions' | 'nothing';
}

const otherChat: OpenaiFacts = {
  needsReasoningBack: false,
  callIds: 'openai',
  isOpenai: false,
  efforts: [],
  takesSampling: true,
  chat: 'all',
};
const openaiChat: OpenaiFacts = { ...otherChat, isOpenai: true };
const openaiThinking: OpenaiFacts = { ...openaiChat, efforts: ['low', 'medium', 'high'], takesSampling: false };
const responsesOnly: OpenaiFacts = { ...openaiThinking, chat: 'nothing' };
const codex: OpenaiFacts = { ...responsesOnly, efforts: ['low', 'medium', 'high', 'xhigh'] };
const pro: OpenaiFacts = { ...responsesOnly, efforts: ['medium', 'high', 'xhigh'] };
const gpt52: OpenaiFacts = { ...openaiThinking, efforts: ['none', 'low', 'medium', 'high', 'xhigh'] };
const astra: OpenaiFacts = {
  ...openaiThinking,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  chat: 'no-functions',
};
const gpt6: OpenaiFacts = { ...astra, efforts: ['none', ...astra.efforts], chat: 'functions-with-none' };
const thinkingChat: OpenaiFacts = { ...otherChat, needsReasoningBack: true };
const mistral: OpenaiFacts = { ...otherChat, callIds: 'mistral' };

const openaiFamilies = createFamilies<OpenaiFacts>({
  'gpt-audio': openaiChat,
  'gpt-realtime': openaiChat,
  'gpt-image': openaiChat,
  'gpt-4': openaiChat,
  'gpt-4-1': openaiChat,
  'gpt-4-5': openaiChat,
  'gpt-4o': openaiChat,
  'gpt-5': { ...openaiThinking, efforts: ['minimal', 'low', 'medium', 'high'] },
  // The model of ChatGPT, which does not reason.
  'gpt-5-chat': openaiChat,
  'gpt-5-1': { ...openaiThinking, efforts: ['none', 'low', 'medium', 'high'] },
  'gpt-5-2': gpt52,
  'gpt-5-4': gpt52,
  'gpt-5-5': gpt52,
  'gpt-5-6': { ...gpt52, efforts: gpt6.efforts, chat: 'functions-without-effort' },
  'gpt-5-pro': { ...responsesOnly, efforts: ['high'] },
  'gpt-5-2-pro': pro,
  'gpt-5-4-pro': pro,
  'gpt-5-5-pro': pro,
  'gpt-5-codex': responsesOnly,
  'gpt-5-1-codex': responsesOnly,
  'gpt-5-1-codex-max': codex,
  'gpt-5-2-codex': codex,
  'gpt-5-3-codex': codex,
  // Astra, GPT-6.1 Sol.
  'gpt-6': astra,
  'gpt-6-1': astra,
  'gpt-6-sol': gpt6,
  'gpt-6-luna': gpt6,
  // Retired in February 2026; other services may still offer it.
  'codex-mini': responsesOnly,
  'gpt-oss': { ...otherChat, efforts: ['low', 'medium', 'high'] },
  chatgpt: openaiChat,
  o1: openaiThinking,
  'o1-pro': responsesOnly,
  o3: openaiThinking,
  'o3-pro': responsesOnly,
  'o3-deep-research': { ...responsesOnly, efforts: ['medium'] },
  o4: openaiThinking,
  'o4-mini-deep-research': { ...responsesOnly, efforts: ['medium'] },
  'deepseek-v4': thinkingChat,
  'deepseek-reasoner': thinkingChat,
  kimi: thinkingChat,
  mistral,
  ministral: mistral,
  magistral: mistral,
  codestral: mistral,
  devstral: mistral,
  mixtral: mistral,
  pixtral: mistral,
  voxtral: mistral,
});

/** Of an unknown GPT since 5 it is known that it reasons; of an older one, that it does not. */
const unknownGpt: OpenaiFacts = { ...openaiThinking, efforts: ['low', 'medium', 'high', 'xhigh'] };

export function openaiFacts(model: string): OpenaiFacts {
  const known = openaiFamilies(model);
  if (known) return known;
  const identity = identify(model);
  if (identity.family !== 'gpt' && !identity.family.startsWith('gpt-')) return otherChat;
  return compareVersion(identity, [5, 0]) < 0 ? openaiChat : unknownGpt;
}

// The most tokens that one answer of a model has, reasoning included: what is sent to it as its maximum, and what is
// reserved of a hard budget where a request states none. What is not here is `maxOutput` in the price table. As of
// 2026-11-23.
//
// Sources: Anthropic, "Models overview"; Amazon Bedrock user guide, "Inference request parameters", and the Amazon
// Nova user guide, "Complete request schema".

const ofFamily = createFamilies({
  'claude-opus-4.5': 64_000,
  'claude-sonnet-4.5': 64_000,
  'claude-haiku-4.5': 64_000,
  'claude-opus-4.1': 32_000,
  'claude-opus-4': 32_000,
  'claude-sonnet-4': 64_000,
  'claude-3.7-sonnet': 64_000,
  'claude-3.5-sonnet': 8192,
  'claude-3.5-haiku': 8192,
  'claude-3-opus': 4096,
  'claude-3-sonnet': 4096,
  'claude-3-haiku': 4096,
  'claude-instant': 4096,
  nova: 10_000,
  'nova-premier': 32_000,
  'nova-2': 65_535,
});

/** Bedrock allows open models less than they could. */
const onBedrock = createFamilies({
  llama: 8192,
  'llama3-8b': 2048,
  'llama3-70b': 2048,
  'mistral-7b': 8192,
  mixtral: 4096,
  'mistral-large-2402': 8192,
  'mistral-large-2407': 8192,
});

/** Null if unknown. An unknown Claude since 4 is treated like the newest. */
export function largestAnswer(model: string): number | null {
  const identity = identify(model);
  const known = ofFamily(model) ?? (identity.isPointed ? onBedrock(model) : undefined);
  if (known !== undefined) return known;
  if (!identity.model.startsWith('claude')) return null;
  return compareVersion(identity, [4, 0]) < 0 ? 4096 : 128_000;
}

// Finds a model's family in a table of facts.

/**
 * Finds the facts of the longest family with whose words a model begins. `claude-opus-4` is not the family of
 * `claude-opus-4-9`, but `gpt-oss` is that of `gpt-oss-120b`.
 *
 * @param table by names of families, without place: `gemini-2.5`, `llama3-8b`
 */
export function createFamilies<Facts>(table: Readonly<Record<string, Facts>>): (model: string) => Facts | undefined {
  const families = new Map(Object.entries(table).map(([name, facts]) => [canonicalName(foldName(name)), facts]));
  return (model) => {
    let name = identify(model).model;
    let next = '';
    while (name !== '') {
      const facts = families.get(name);
      if (facts !== undefined && !(isNumber(name.slice(-1)) && isVersion(next))) return facts;
      const end = Math.max(0, name.lastIndexOf('-'));
      next = name.slice(end + 1);
      name = name.slice(0, end);
    }
    return undefined;
  };
}

const isNumber = (word: string) => /^\d+$/.test(word);

/** One or two digits indicate another model; more are a date, and `32b` is a size. */
const isVersion = (word: string) => word.length <= 2 && isNumber(word);

// How many texts embedding models take at a time, by the way they are called. As of 2026-11-22.

/** OpenAI, API reference, "Create embeddings": "any array must be 2048 dimensions or less". Also the most that a client may ask for. */
export const mostTextsOfOpenai = 2_048;

/**
 * `:batchEmbedContents` of the Gemini API, whatever the model: "at most 100 requests can be in one batch" (its error message;
 * langchain-ai/langchainjs#4491, vercel/ai#16575).
 */
export const mostTextsOfGemini = 100;

/** Source: Google Cloud, "Text embeddings API". */
const textsByPredict = createFamilies({ 'gemini-embedding-001': 1 });
const usualTextsByPredict = 250;

/** Maximum number of texts per request for a model on Vertex AI that is called through `:predict`. */
export function mostPredictedTexts(model: string): number {
  return textsByPredict(model) ?? usualTextsByPredict;
}

interface BedrockEmbedder {
  form: 'titan' | 'cohere';
  mostTexts: number;
  /** The field for the length of the vectors; null if the length is fixed. */
  dimensions: 'dimensions' | 'output_dimension' | null;
}

const titan: BedrockEmbedder = { form: 'titan', mostTexts: 1, dimensions: null };
const cohere: BedrockEmbedder = { form: 'cohere', mostTexts: 96, dimensions: null };

/**
 * Undefined if the model does not create text embeddings. Sources: Amazon Bedrock user guide, "Amazon Titan Embeddings G1
 * - Text", "Cohere Embed v3", "Cohere Embed v4".
 */
export const bedrockEmbedder = createFamilies<BedrockEmbedder>({
  'titan-embed-text': titan,
  'titan-embed-g1-text': titan,
  'titan-embed-text-v2': { ...titan, dimensions: 'dimensions' },
  embed: cohere,
  'embed-v4': { ...cohere, dimensions: 'output_dimension' },
});
