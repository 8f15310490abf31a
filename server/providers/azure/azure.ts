import type { Dialect, Endpoint } from '../dialect.ts';

/** Routes that Azure's classic API keeps under a deployment; the rest of it (responses, videos) names the model in the body. */
const deploymentRoute = /^\/(chat\/completions|completions|embeddings|images\/|audio\/)/;

const defaultApiVersion = '2025-04-01-preview';

/**
 * Azure OpenAI. A base URL that ends in `/v1` (`https://NAME.openai.azure.com/openai/v1`) is the newer API, whose paths are
 * OpenAI's own; any other (`…/openai`, or the bare resource) the classic one, with `/deployments/NAME` and a required
 * `api-version`. Source: Azure OpenAI REST API reference.
 */
export const azure: Dialect = {
  id: 'azure',
  address(endpoint, path, query, model) {
    if (endpoint.basePath.endsWith('/v1')) return endpoint.basePath + path + withVersion(query, endpoint.apiVersion);
    const base = classicBase(endpoint);
    const version = endpoint.apiVersion ?? defaultApiVersion;
    const deployment = model && deploymentRoute.test(path) ? `/deployments/${encodeURIComponent(model)}` : '';
    return base + deployment + path + withVersion(query, version);
  },
  authorize: (secret) => ({ 'api-key': secret }),
};

function classicBase(endpoint: Endpoint): string {
  return endpoint.basePath.endsWith('/openai') ? endpoint.basePath : `${endpoint.basePath}/openai`;
}

function withVersion(query: string, version: string | undefined): string {
  if (!version || query.includes('api-version=')) return query;
  return `${query}${query ? '&' : '?'}api-version=${encodeURIComponent(version)}`;
}
