/**
 * The models of a region: first those that are called by their own name, then the inference profiles, through which all
 * newer models are called. Sources: Amazon Bedrock API reference, "ListFoundationModels", "ListInferenceProfiles".
 */
import { isObject } from '../../../contract/is-object.ts';
import type { ModelPages } from '../../core/dialects/dialect.ts';
import { makesEmbeddings } from './embedding-models.ts';

const foundationModels = '/foundation-models?byInferenceType=ON_DEMAND';
const inferenceProfiles = '/inference-profiles?maxResults=1000&typeEquals=SYSTEM_DEFINED';

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
