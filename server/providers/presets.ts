/**
 * Known services and local servers. A preset only fills in a new provider's values. Addresses and names are those of each
 * service's documentation (November 2026).
 */
import type { Preset } from '../contract/preset.ts';

type Particulars = Pick<Preset, 'id' | 'name' | 'baseUrl'> & Partial<Preset>;

function service(preset: Particulars & Pick<Preset, 'environment' | 'keyPage'>): Preset {
  return { ...common, isLocal: false, needsCredential: true, ports: [], ...preset };
}

function localServer(preset: Particulars & { ports: [number] }): Preset {
  return { ...common, isLocal: true, needsCredential: false, environment: [], keyPage: null, ...preset };
}

const common = { dialect: 'openai', models: 'discover', askUsage: true, serves: null, hint: null } as const;

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
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    environment: ['OPENROUTER_API_KEY'],
    keyPage: 'https://openrouter.ai/settings/keys',
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
    // Refuses `stream_options.include_usage` with 422 "Extra inputs are not permitted", and sends usage unasked.
    askUsage: false,
    serves: ['chat'],
  }),
  service({
    id: 'deepseek',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    environment: ['DEEPSEEK_API_KEY'],
    keyPage: 'https://platform.deepseek.com/api_keys',
  }),
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
    ...common,
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
