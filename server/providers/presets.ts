/**
 * Known services and local servers. A preset only fills in the values of a new provider. Addresses and names are from
 * each service's documentation (November 2026). In the order in which people are offered them: those that most people have
 * first, local servers last, because those that run are found.
 */
import type { Preset } from '../contract/preset.ts';
import { refusesStreamOptions } from './chat-flavours.ts';

type Particulars = Pick<Preset, 'id' | 'name' | 'baseUrl'> & Partial<Preset>;

/** Values that most presets share. */
const presetDefaults = {
  dialect: 'openai',
  models: 'discover',
  askUsage: true,
  serves: null,
  hint: null,
} as const;

function service(preset: Particulars & Pick<Preset, 'environment' | 'keyPage'>): Preset {
  const askUsage = !refusesStreamOptions(preset.id);
  return { ...presetDefaults, askUsage, isLocal: false, needsCredential: true, ports: [], ...preset };
}

function localServer(preset: Particulars & { ports: [number] }): Preset {
  return { ...presetDefaults, isLocal: true, needsCredential: false, environment: [], keyPage: null, ...preset };
}

/** Services in China. If a service has another address for accounts outside China, its hint names that address. */
const chineseServices: readonly Preset[] = [
  // Source: platform.kimi.com/docs/api/overview; platform.kimi.ai documents `/responses` for api.moonshot.ai only.
  service({
    id: 'moonshot',
    name: 'Moonshot AI (Kimi)',
    baseUrl: 'https://api.moonshot.cn/v1',
    environment: ['MOONSHOT_API_KEY'],
    keyPage: 'https://platform.moonshot.cn/console/api-keys',
    hint: 'For an account of platform.kimi.ai, set the base URL to https://api.moonshot.ai/v1 after adding it.',
  }),
  // Source: docs.bigmodel.cn, "OpenAI API compatibility".
  service({
    id: 'zhipu',
    name: 'Zhipu (BigModel)',
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    environment: ['ZHIPUAI_API_KEY', 'BIGMODEL_API_KEY'],
    keyPage: 'https://open.bigmodel.cn/usercenter/proj-mgmt/apikeys',
    serves: ['chat'],
  }),
  // Source: docs.z.ai, "API reference: introduction".
  service({
    id: 'zai',
    name: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    environment: ['ZAI_API_KEY'],
    keyPage: 'https://z.ai/manage-apikey/apikey-list',
    hint: 'For the GLM coding plan, set the base URL to https://api.z.ai/api/coding/paas/v4 after adding it.',
    serves: ['chat'],
  }),
  // Source: help.aliyun.com/zh/model-studio, "OpenAI compatible - Chat".
  service({
    id: 'dashscope',
    name: 'Alibaba Cloud (DashScope)',
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    environment: ['DASHSCOPE_API_KEY'],
    keyPage: 'https://bailian.console.aliyun.com/?tab=model#/api-key',
    hint: 'For an international account, set the base URL to https://dashscope-intl.aliyuncs.com/compatible-mode/v1 after adding it.',
  }),
  // Source: docs.siliconflow.cn, "API reference".
  service({
    id: 'siliconflow',
    name: 'SiliconFlow',
    baseUrl: 'https://api.siliconflow.cn/v1',
    environment: ['SILICONFLOW_API_KEY'],
    keyPage: 'https://cloud.siliconflow.cn/account/ak',
    hint: 'For an account of siliconflow.com, set the base URL to https://api.siliconflow.com/v1 after adding it.',
    serves: ['chat'],
  }),
  // Source: volcengine.com/docs/82379, "Compatibility with the OpenAI SDK".
  service({
    id: 'volcengine',
    name: 'Volcengine Ark (Doubao)',
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
    environment: ['ARK_API_KEY', 'VOLCENGINE_API_KEY'],
    keyPage: 'https://console.volcengine.com/ark/region:ark+cn-beijing/apiKey',
    hint: 'Models have to be activated in the Ark console. An inference endpoint (ep-…) can be used as a model name.',
    serves: ['chat', 'responses'],
  }),
  // Source: platform.minimax.io/docs/api-reference, "OpenAI SDK" and "List models".
  service({
    id: 'minimax',
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    environment: ['MINIMAX_API_KEY'],
    keyPage: 'https://platform.minimax.io/user-center/basic-information/interface-key',
    hint: 'For an account of platform.minimaxi.com, set the base URL to https://api.minimaxi.com/v1 after adding it.',
    serves: ['chat', 'responses'],
  }),
  // Source: cloud.baidu.com/doc/WENXINWORKSHOP/s/2m3fihw8s, "OpenAI SDK compatibility".
  service({
    id: 'qianfan',
    name: 'Baidu Qianfan',
    baseUrl: 'https://qianfan.baidubce.com/v2',
    environment: ['QIANFAN_API_KEY'],
    keyPage: 'https://console.bce.baidu.com/qianfan/ais/console/apiKey',
    hint: 'The credential is an API key that begins with bce-v3/, not a pair of access key and secret key.',
    serves: ['chat'],
  }),
  // Source: cloud.tencent.com/document/product/1729/111007, "OpenAI compatible API".
  service({
    id: 'hunyuan',
    name: 'Tencent Hunyuan',
    baseUrl: 'https://api.hunyuan.cloud.tencent.com/v1',
    environment: ['HUNYUAN_API_KEY'],
    keyPage: 'https://console.cloud.tencent.com/hunyuan/api-key',
    serves: ['chat'],
  }),
];

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
