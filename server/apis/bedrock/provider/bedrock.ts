/** Amazon Bedrock as a provider: how it is addressed, and its models. */
import { isObject } from '../../../contract/is-object.ts';
import { identify } from '../../../contract/model-identity.ts';
import type { Dialect, HostedModel, ModelPages } from '../../core/dialects/dialect.ts';
import { claudeOnBedrock } from './claude.ts';
import { converseOnBedrock, makesEmbeddings } from './converse.ts';
import { awsSigning, readAwsKeys } from './signing.ts';

const foundationModels = '/foundation-models?byInferenceType=ON_DEMAND';
const inferenceProfiles = '/inference-profiles?maxResults=1000&typeEquals=SYSTEM_DEFINED';

/**
 * The models of a region: first those that are called by their own name, then the inference profiles, through which all
 * newer models are called. Sources: Amazon Bedrock API reference, "ListFoundationModels", "ListInferenceProfiles".
 */
export const bedrockModelPages: ModelPages = {
  first: foundationModels,
  after(page, query) {
    if (query === foundationModels) return inferenceProfiles;
    const token = isObject(page) ? page.nextToken : undefined;
    return typeof token === 'string' && token !== ''
      ? `${inferenceProfiles}&nextToken=${encodeURIComponent(token)}`
      : null;
  },
  place: ({ origin, basePath }, query) => ({
    // The control plane serves the lists, at `bedrock.us-east-1.amazonaws.com`.
    origin: origin.replace('//bedrock-runtime', '//bedrock'),
    path: basePath + query,
    headers: {},
  }),
  // "User: arn:aws:iam::… is not authorized to perform: bedrock:ListFoundationModels" (Amazon Bedrock user guide, "Troubleshooting").
  isRightMissing: (status, body) => status === 403 && body.includes('is not authorized to perform: bedrock:List'),
  read(page) {
    if (!isObject(page)) return null;
    if (Array.isArray(page.modelSummaries)) return page.modelSummaries.filter(isServed).map(nameOf('modelId'));
    if (!Array.isArray(page.inferenceProfileSummaries)) return null;
    return page.inferenceProfileSummaries.filter(isObject).map(nameOf('inferenceProfileId'));
  },
};

/** Models that write text or make embeddings. */
function isServed(summary: unknown): summary is Record<string, unknown> {
  if (!isObject(summary) || typeof summary.modelId !== 'string') return false;
  const model = summary.modelId;
  if (makesEmbeddings(model)) return true;
  return Array.isArray(summary.outputModalities) && summary.outputModalities.includes('TEXT');
}

function nameOf(field: string): (entry: Record<string, unknown>) => unknown {
  return (entry) => entry[field];
}

/**
 * Amazon Bedrock. Base URLs are those of its runtime: `https://bedrock-runtime.us-east-1.amazonaws.com`. A credential
 * is either a Bedrock API key or an AWS access key, which signs each request. Source: Amazon Bedrock API reference.
 */
export const bedrockDialect: Dialect = {
  id: 'bedrock',
  // The envelope puts it in, percent-encoded, because the ARN of an inference profile contains slashes.
  putsModelInPath: false,
  address: ({ basePath }, path, query) => basePath + path + query,
  serves: () => false,
  conversationWire: 'bedrock-converse',
  embeddingsWire: null,
  defaultHeaders: {},
  bindsReasoning: true,
  modelPages: bedrockModelPages,
  hasUnlistedModels: true,
  authorize: (secret) => (readAwsKeys(secret) ? {} : { authorization: `Bearer ${secret}` }),
  signing(secret) {
    const keys = readAwsKeys(secret);
    return keys && awsSigning(keys);
  },
  hosted: modelOnBedrock,
};

/** Kinds of resources whose ARN does not reveal the model, but which are never Claude. */
const others = ['imported-model/', 'custom-model-deployment/'];

/**
 * Claude is called through InvokeModel, which accepts all of Anthropic's API; all other models through Converse. A name
 * that does not reveal its maker, such as the ARN of an application inference profile, is treated as Claude.
 * @param model `us.anthropic.claude-opus-4-5-20251101-v1:0`, `amazon.nova-pro-v1:0`, or an ARN
 */
export function modelOnBedrock(model: string): HostedModel {
  const { maker } = identify(model);
  const isClaude = maker === 'anthropic' || (maker === null && !model.slice(model.lastIndexOf('/') + 1).includes('.'));
  return isClaude && !others.some((kind) => model.includes(kind)) ? claudeOnBedrock(model) : converseOnBedrock(model);
}
