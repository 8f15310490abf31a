/**
 * Known services and local servers. A preset only fills in the values of a new provider. Addresses and names are from
 * each service's documentation (November 2026). In the order in which people are offered them: those that most people have
 * first, local servers last, because those that run are found.
 */
import type { Preset } from '../contract/preset.ts';
import { chineseServices } from './chinese-services.ts';
import { localServer, presetDefaults, service } from './make-preset.ts';

export const presets: readonly Preset[] = [
  service({
    id: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    environment: ['OPENAI_API_KEY'],
    keyPage: 'https://platform.openai.com/api-keys',
    serves: ['chat', 'responses'],
  }),
  service({
    id: 'anthropic',
    name: 'Anthropic',
    dialect: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    environment: ['ANTHROPIC_API_KEY'],
    keyPage: 'https://platform.claude.com/settings/keys',
  }),
  service({
    id: 'gemini',
    name: 'Google Gemini',
    dialect: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    environment: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    keyPage: 'https://aistudio.google.com/apikey',
  }),
  // Source: openrouter.ai/docs, "Responses" (`beta.responses` is its former name), 2026-11-23.
  service({
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    environment: ['OPENROUTER_API_KEY'],
    keyPage: 'https://openrouter.ai/settings/keys',
    serves: ['chat', 'responses'],
  }),
  service({
    id: 'azure',
    name: 'Azure OpenAI',
    dialect: 'azure',
    baseUrl: 'https://{resource}.openai.azure.com/openai/v1',
    environment: ['AZURE_OPENAI_API_KEY'],
    keyPage: 'https://ai.azure.com',
    models: ['*'],
    hint: 'Use the names of your deployments as model names; Azure lists models that could be deployed, not your deployments. For resources without the v1 API, end the base URL with /openai and set the API version.',
    serves: ['chat', 'responses'],
  }),
  service({
    id: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    environment: ['GROQ_API_KEY'],
    keyPage: 'https://console.groq.com/keys',
    serves: ['chat', 'responses'],
  }),
  service({
    id: 'together',
    name: 'Together AI',
    baseUrl: 'https://api.together.ai/v1',
    environment: ['TOGETHER_API_KEY'],
    keyPage: 'https://api.together.ai/settings/api-keys',
    serves: ['chat'],
  }),
  service({
    id: 'fireworks',
    name: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    environment: ['FIREWORKS_API_KEY'],
    keyPage: 'https://fireworks.ai/account/api-keys',
    serves: ['chat', 'responses'],
  }),
  service({
    id: 'mistral',
    name: 'Mistral AI',
    baseUrl: 'https://api.mistral.ai/v1',
    environment: ['MISTRAL_API_KEY'],
    keyPage: 'https://console.mistral.ai/api-keys',
    serves: ['chat'],
  }),
  service({
    id: 'deepseek',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    environment: ['DEEPSEEK_API_KEY'],
    keyPage: 'https://platform.deepseek.com/api_keys',
  }),
  // Source: docs.x.ai, "Comparison with Chat Completions API", which calls chat deprecated, 2026-11-23.
  service({
    id: 'xai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    environment: ['XAI_API_KEY'],
    keyPage: 'https://console.x.ai',
    serves: ['chat', 'responses'],
  }),
  service({
    id: 'cerebras',
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    environment: ['CEREBRAS_API_KEY'],
    keyPage: 'https://cloud.cerebras.ai',
    serves: ['chat'],
  }),
  // Source: build.nvidia.com/llms.txt, "All NIM model endpoints implement the OpenAI Chat Completions API", 2026-11-23.
  service({
    id: 'nvidia',
    name: 'NVIDIA',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    environment: ['NVIDIA_API_KEY'],
    keyPage: 'https://build.nvidia.com',
    serves: ['chat'],
  }),
  service({
    id: 'perplexity',
    name: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    environment: ['PERPLEXITY_API_KEY'],
    keyPage: 'https://www.perplexity.ai/settings/api',
    models: ['sonar', 'sonar-pro', 'sonar-reasoning-pro', 'sonar-deep-research', '*'],
    hint: 'This address serves chat completions without a model list. For the Responses API use https://api.perplexity.ai/v1.',
    serves: ['chat'],
  }),
  service({
    id: 'bedrock',
    name: 'Amazon Bedrock',
    dialect: 'bedrock',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
    environment: ['AWS_BEARER_TOKEN_BEDROCK'],
    keyPage: 'https://console.aws.amazon.com/bedrock/home#/api-keys',
    hint: 'Claude is asked in its own API, all other models through Converse. Name models as Bedrock does, by the id or ARN of a model or inference profile. The credential is a Bedrock API key, or an access key as ID:SECRET or ID:SECRET:TOKEN.',
  }),
  service({
    id: 'vertex',
    name: 'Google Vertex AI',
    dialect: 'vertex',
    baseUrl: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}',
    environment: ['GOOGLE_VERTEX_API_KEY'],
    keyPage: 'https://console.cloud.google.com/iam-admin/serviceaccounts',
    hint: 'For Gemini and Claude. The credential is the JSON file of a service account, or application-default for those of gcloud. For the location global, the host is aiplatform.googleapis.com.',
  }),
  ...chineseServices,
  localServer({ id: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', ports: [11434] }),
  localServer({ id: 'lm-studio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', ports: [1234] }),
  localServer({ id: 'llama-cpp', name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1', ports: [8080] }),
  localServer({ id: 'vllm', name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', ports: [8000] }),
  localServer({
    id: 'jan',
    name: 'Jan',
    baseUrl: 'http://127.0.0.1:1337/v1',
    ports: [1337],
    needsCredential: true,
    hint: 'The key is the one set in Jan under Settings, Local API Server.',
  }),
  localServer({ id: 'localai', name: 'LocalAI', baseUrl: 'http://127.0.0.1:8080/v1', ports: [8080] }),
  {
    ...presetDefaults,
    id: 'custom',
    name: 'Another service',
    baseUrl: 'https://{host}/v1',
    isLocal: false,
    needsCredential: false,
    environment: [],
    keyPage: null,
    ports: [],
    hint: 'Any service that speaks the OpenAI API. Use the base URL that its documentation gives for OpenAI clients; most end in /v1.',
  },
];

/** The domains of the services with presets: `openai.com`, `googleapis.com` … */
const vendorDomains = new Set(
  presets
    .filter(({ isLocal }) => !isLocal)
    .map(({ baseUrl }) => /^https:\/\/([^/:]+)/.exec(baseUrl)?.[1]?.split('.').slice(-2).join('.') ?? '')
    .filter((domain) => domain.includes('.') && !domain.includes('{')),
);

/** Whether a host is in the domain of a known service, which has certificates of public authorities. */
export function isVendorHost(hostname: string): boolean {
  return vendorDomains.has(hostname.toLowerCase().replace(/\.$/, '').split('.').slice(-2).join('.'));
}
