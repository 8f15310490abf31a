/**
 * What services refuse of OpenAI's chat requests: the only place that knows. A service that is not listed, or a member
 * that is not, is taken to be as OpenAI's. What a service ignores is not listed, for it harms nobody, but for the limit
 * of an answer.
 *
 * Without an entry because their sources name nothing that they refuse (November 2026): vLLM and SGLang (unknown
 * members are allowed: `OpenAIBaseModel`), llama.cpp (which reads `developer` as `system`, ggml-org/llama.cpp#20215),
 * LM Studio (OpenAI compatibility), Together (API reference), Snowflake ("Cortex REST API").
 */
import { type ChatFlavour, plainFlavour } from '../apis/core/chat-flavour.ts';
import { entryOf } from '../apis/core/table-entry.ts';
import type { ProviderConfig } from '../contract/config.ts';
import { identify } from '../contract/model-identity.ts';
import { dayMs } from '../contract/units.ts';
import { geminiFacts, openaiFacts } from '../models/model-facts.ts';

interface Service {
  /** The hosts of providers that were added without the preset; a leading dot stands for any subdomain. */
  hosts: readonly string[];
  flavour: ChatFlavour;
  /** The flavour of its models that think, if it differs. */
  thinking?: { isModel(model: string): boolean; flavour: ChatFlavour };
}

/**
 * OpenAI's reference, "Create chat completion": `max_tokens` is "not compatible with o-series models"; GPT-5 and later refuse it
 * as well ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.").
 */
const openaiThinking = {
  isModel: isOpenaiReasoning,
  flavour: { ...plainFlavour, request: { max_tokens: 'max_completion_tokens' } },
};

/**
 * "Gemini models require OpenRouter reasoning details to be preserved in each request", also in a conversation that another
 * model began (RooCodeInc/Roo-Code#10759, with the placeholder that it takes instead).
 */
const routedGemini = {
  isModel: wantsSignatures,
  flavour: { ...plainFlavour, signsCalls: 'reasoning_details' as const },
};

/** Google, "Thought signatures", OpenAI compatibility: `tool_calls[].extra_content.google.thought_signature`. */
const ownGemini = { isModel: wantsSignatures, flavour: { ...plainFlavour, signsCalls: 'extra_content' as const } };

const systemForDeveloper: ChatFlavour = { ...plainFlavour, roles: { developer: 'system' } };

/** By preset. */
const services: Readonly<Record<string, Service>> = {
  openai: { hosts: ['api.openai.com'], flavour: plainFlavour, thinking: openaiThinking },
  azure: { hosts: ['.openai.azure.com'], flavour: plainFlavour, thinking: openaiThinking },
  openrouter: { hosts: ['openrouter.ai'], flavour: plainFlavour, thinking: routedGemini },
  // With OpenAI's dialect. The preset has Google's own.
  gemini: {
    hosts: ['generativelanguage.googleapis.com', 'aiplatform.googleapis.com', '.aiplatform.googleapis.com'],
    flavour: plainFlavour,
    thinking: ownGemini,
  },
  // console.groq.com/docs/openai, "Currently Unsupported OpenAI Features"; "property 'reasoning_content' is unsupported"
  // (janhq/jan#8136, AstrBotDevs/AstrBot#5946), and so for `reasoning_details` (agentjido/req_llm#772).
  groq: {
    hosts: ['api.groq.com'],
    flavour: {
      ...plainFlavour,
      request: { logprobs: null, top_logprobs: null, logit_bias: null },
      messages: { reasoning_content: null, reasoning_details: null, name: null },
    },
  },
  // It refuses every member that its API reference lacks (mistralai/platform-docs-public#7), such as `store` and
  // `max_completion_tokens` (Gitlawb/openclaude#739), `stream_options.include_usage` (openai/openai-agents-python#442; it sends
  // usage without being asked), `reasoning_content` (charmbracelet/crush#1590) and a user's `name` (mistral-go#2). Its `seed` is
  // `random_seed`. Roles: docs.mistral.ai/api, "Chat".
  mistral: {
    hosts: ['api.mistral.ai', 'codestral.mistral.ai'],
    flavour: {
      ...plainFlavour,
      request: {
        max_completion_tokens: 'max_tokens',
        seed: 'random_seed',
        stream_options: null,
        store: null,
        user: null,
        safety_identifier: null,
        service_tier: null,
        verbosity: null,
        logprobs: null,
        top_logprobs: null,
        logit_bias: null,
        modalities: null,
        web_search_options: null,
      },
      messages: {
        reasoning_content: null,
        reasoning: null,
        reasoning_details: null,
        refusal: null,
        annotations: null,
        audio: null,
        name: null,
      },
      roles: systemForDeveloper.roles,
    },
  },
  // "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`" (eclipse-theia/theia#15144,
  // earendil-works/pi#1048). "The `reasoning_content` in the thinking mode must be passed back to the API." (api-docs.deepseek.com,
  // "Thinking mode"; of every message of the assistant: NousResearch/hermes-agent#15228; it may be empty:
  // claude-code-best/claude-code#403).
  deepseek: {
    hosts: ['api.deepseek.com'],
    flavour: systemForDeveloper,
    thinking: { isModel: needsReasoningBack, flavour: { ...systemForDeveloper, wantsReasoning: 'of all' } },
  },
  // It refuses unknown members, `reasoning_content` among them, and takes a turn's reasoning back as `reasoning`
  // (QwenLM/qwen-code#11045, proxysoul/Empryo#209; inference-docs.cerebras.ai, "Reasoning").
  cerebras: {
    hosts: ['api.cerebras.ai'],
    flavour: { ...plainFlavour, messages: { reasoning_content: 'reasoning', reasoning_details: null } },
  },
  // docs.x.ai, "Reasoning", says so of reasoning models, and since Grok 4.20 it is true of all (miaoxworld/NativeTavern#83).
  // `stop` is left in although it is refused as well: the answer would not end where the client wants it to.
  xai: {
    hosts: ['api.x.ai'],
    flavour: { ...plainFlavour, request: { presence_penalty: null, frequency_penalty: null } },
  },
  // "Extra inputs are not permitted, field: …" (web-infra-dev/midscene#1322): members that docs.fireworks.ai lacks, as
  // docs.getbifrost.ai lists them under "Fireworks", Filtered Parameters.
  fireworks: {
    hosts: ['api.fireworks.ai'],
    flavour: {
      ...plainFlavour,
      request: { store: null, verbosity: null, web_search_options: null, prompt_cache_retention: null },
    },
  },
  // It reads `max_tokens` alone (`ChatCompletionRequest` in ollama/ollama, openai/openai.go; docs.ollama.com, "OpenAI
  // compatibility"): without this, a client's `max_completion_tokens` would limit nothing.
  ollama: { hosts: ['ollama.com'], flavour: { ...plainFlavour, request: { max_completion_tokens: 'max_tokens' } } },
  // "Message content as a list is only supported for user messages." (microsoft/agent-framework#1407); of text-only templates
  // also for users (router-for-me/CLIProxyAPI#3120).
  nvidia: { hosts: ['integrate.api.nvidia.com'], flavour: { ...plainFlavour, joinsTexts: true } },
  // "unsupported role ROLE_UNSPECIFIED" (openclaw/openclaw#8579); "role 'developer' is not allowed" (earendil-works/pi#8109).
  // "thinking is enabled but reasoning_content is missing in assistant tool call message" (continuedev/continue#11600); it may be
  // empty (openclaw/openclaw#74846).
  moonshot: {
    hosts: ['api.moonshot.cn', 'api.moonshot.ai', 'api.kimi.com'],
    flavour: systemForDeveloper,
    thinking: { isModel: needsReasoningBack, flavour: { ...systemForDeveloper, wantsReasoning: 'of calls' } },
  },
  // Error 1214, "Incorrect role information" (openclaw/openclaw#23115).
  zhipu: { hosts: ['open.bigmodel.cn'], flavour: systemForDeveloper },
  zai: { hosts: ['api.z.ai'], flavour: systemForDeveloper },
  // "developer is not one of ['system', 'assistant', 'user', 'tool', 'function']" (haru/redmine_ai_helper#242).
  dashscope: {
    hosts: ['dashscope.aliyuncs.com', '.dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com'],
    flavour: systemForDeveloper,
  },
  // "invalid params, invalid role: developer (2013)" (openclaw/openclaw#16048).
  minimax: {
    hosts: ['api.minimax.io', 'api.minimaxi.com'],
    flavour: systemForDeveloper,
  },
};

/** By what its preset, or else its address, says of a provider; null if it takes a model's requests as OpenAI does. */
export function chatFlavourOf({
  preset,
  dialect,
  baseUrl,
}: Pick<ProviderConfig, 'preset' | 'dialect' | 'baseUrl'>): (model: string) => ChatFlavour | null {
  const service = dialect === 'openai' || dialect === 'azure' ? serviceAt(preset, baseUrl) : undefined;
  if (!service) return noFlavour;
  const { flavour, thinking } = service;
  const usual = flavour === plainFlavour ? null : flavour;
  return thinking ? (model) => (thinking.isModel(model) ? thinking.flavour : usual) : () => usual;
}

/** Whether it has to be asked for streams without `stream_options`. */
export function refusesStreamOptions(preset: string): boolean {
  return entryOf(entryOf(services, preset)?.flavour.request ?? {}, 'stream_options') === null;
}

const noFlavour = () => null;

function serviceAt(preset: string | undefined, baseUrl: string): Service | undefined {
  const ofPreset = entryOf(services, preset);
  if (ofPreset) return ofPreset;
  const { hostname } = new URL(baseUrl);
  return Object.values(services).find(({ hosts }) =>
    hosts.some((host) => (host.startsWith('.') ? hostname.endsWith(host) : hostname === host)),
  );
}

function needsReasoningBack(model: string): boolean {
  return openaiFacts(model).needsReasoningBack;
}

function wantsSignatures(model: string): boolean {
  return identify(model).model.startsWith('gemini') && geminiFacts(model).needsSignatures;
}

function isOpenaiReasoning(model: string): boolean {
  const { isOpenai, takesSampling } = openaiFacts(model);
  return isOpenai && !takesSampling;
}

/** A provider as it is configured. */
interface Configured {
  id: string;
  /** Differs after each edit. */
  configuredAs: string;
}

interface OfProvider {
  configuredAs: string;
  /** By model: the members, and until when they are left out. */
  models: Map<string, Map<string, number>>;
}

/** Clients may choose the names of models. */
const maxModels = 1_000;

/**
 * What services have been seen to refuse of requests that Sluice wrote: in memory, for each model of a provider, until
 * the provider is edited or a day has passed, since services change.
 */
export class LearntRefusals {
  readonly #now: () => number;
  readonly #providers = new Map<string, OfProvider>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** The members that this model's requests are sent without; null if there are none. */
  of(provider: Configured, model: string): readonly string[] | null {
    const members = this.#current(provider)?.models.get(model);
    if (!members) return null;
    for (const [member, untilMs] of members) if (untilMs <= this.#now()) members.delete(member);
    return members.size === 0 ? null : [...members.keys()];
  }

  /** The model has answered a request without the member, which it had refused. */
  learn(provider: Configured, model: string, member: string): void {
    const { id, configuredAs } = provider;
    const known = this.#current(provider) ?? { configuredAs, models: new Map<string, Map<string, number>>() };
    this.#providers.set(id, known);
    const members = known.models.get(model) ?? new Map<string, number>();
    if (!known.models.has(model) && known.models.size >= maxModels) known.models.clear();
    known.models.set(model, members);
    members.set(member, this.#now() + dayMs);
  }

  #current({ id, configuredAs }: Configured): OfProvider | undefined {
    const known = this.#providers.get(id);
    if (known === undefined || known.configuredAs === configuredAs) return known;
    this.#providers.delete(id);
    return undefined;
  }
}
