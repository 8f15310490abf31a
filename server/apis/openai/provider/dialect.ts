/** OpenAI, services that are compatible with it, and Azure OpenAI as providers. */
import { isObject } from '../../../contract/is-object.ts';
import { type Dialect, type Endpoint, type ModelPages, onePage } from '../../core/dialects/dialect.ts';

/** OpenAI's own list has one page; some compatible services list theirs like OpenAI's other lists. */
const modelPages: ModelPages = {
  first: '',
  after(page, query) {
    if (!isObject(page) || page.has_more !== true || !Array.isArray(page.data)) return null;
    const last: unknown =
      page.last_id ?? page.data.findLast((entry) => isObject(entry) && typeof entry.id === 'string')?.id;
    const next = typeof last === 'string' ? `?after=${encodeURIComponent(last)}` : null;
    // A server that ignores the position repeats its first page.
    return next === query ? null : next;
  },
};

/** OpenAI and compatible services. */
export const openaiDialect: Dialect = {
  id: 'openai',
  putsModelInPath: false,
  address: (endpoint, path, query) => endpoint.basePath + path + query,
  serves: (wire) => wire.startsWith('openai-'),
  conversationWire: 'openai-chat',
  embeddingsWire: 'openai-embeddings',
  bindsReasoning: false,
  defaultHeaders: {},
  takesIdempotencyKeys: true,
  modelPages,
  authorize: (secret) => ({ authorization: `Bearer ${secret}` }),
};

/** The routes that Azure's classic API has below a deployment. All other routes name the model in the body. */
const deploymentRoute = /^\/(chat\/completions|completions|embeddings|images\/|audio\/)/;
/** Routes that only the v1 API has, on the same resource. */
const newerRoute = /^\/videos(\/|$)/;

const defaultApiVersion = '2025-04-01-preview';

/**
 * Azure OpenAI. A base URL that ends in `/v1` (`https://NAME.openai.azure.com/openai/v1`) selects the v1 API with OpenAI's
 * paths. Any other (the resource, `…/openai`, or `…/openai/deployments/NAME` as the portal shows it) selects the classic
 * API with `/deployments/NAME` and a required `api-version`. Source: Azure OpenAI REST API reference.
 */
export const azureDialect: Dialect = {
  id: 'azure',
  putsModelInPath: true,
  address(endpoint, path, query, model) {
    if (endpoint.basePath.endsWith('/v1')) return endpoint.basePath + path + withVersion(query, endpoint.apiVersion);
    const { base, deployment } = classicBase(endpoint);
    const version = endpoint.apiVersion ?? defaultApiVersion;
    if (newerRoute.test(path)) return `${base}/v1${path}${query}`;
    const name = deployment ?? (model === null ? null : encodeURIComponent(model));
    if (path === '/realtime') return base + path + withVersion(asDeployment(query, name), version);
    const prefix = name !== null && deploymentRoute.test(path) ? `/deployments/${name}` : '';
    return base + prefix + path + withVersion(query, version);
  },
  serves: (wire) => wire.startsWith('openai-'),
  conversationWire: 'openai-chat',
  embeddingsWire: 'openai-embeddings',
  bindsReasoning: false,
  defaultHeaders: {},
  takesIdempotencyKeys: true,
  modelPages: onePage,
  authorize: (secret) => ({ 'api-key': secret }),
};

/** `deployment` is the one in the base URL. It then answers for every model. */
function classicBase({ basePath }: Endpoint): { base: string; deployment: string | null } {
  const parts = /^(.*?\/openai)(?:\/deployments(?:\/([^/]+))?)?$/.exec(basePath);
  return { base: parts?.[1] ?? `${basePath}/openai`, deployment: parts?.[2] ?? null };
}

/** The classic API names the model of a realtime session as `deployment`. */
function asDeployment(query: string, deployment: string | null): string {
  const others = query.slice(1).split('&');
  const parameters = others.filter((parameter) => parameter !== '' && !parameter.startsWith('model='));
  if (deployment !== null) parameters.unshift(`deployment=${deployment}`);
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

function withVersion(query: string, version: string | undefined): string {
  if (!version || /[?&]api-version=/.test(query)) return query;
  return `${query}${query ? '&' : '?'}api-version=${encodeURIComponent(version)}`;
}
