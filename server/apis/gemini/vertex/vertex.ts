/** Vertex AI as a provider: how it is addressed, and its models. */
import { isObject } from '../../../contract/is-object.ts';
import { identify } from '../../../contract/model-identity.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import {
  allAvailable,
  type Dialect,
  type EnvelopedRequest,
  type HostedModel,
  type ModelPages,
} from '../../core/dialects/dialect.ts';
import {
  claudeErrorType,
  countingPath,
  plainHeaders,
  sortBetas,
  withMarkedBlock,
  writeClaudeError,
} from '../../core/dialects/hosted-claude.ts';
import { googleSigning, plainCredential } from './credential.ts';

// The models of several makers on Vertex AI, each in the API of its maker.

/**
 * As of 2026-11-22. Sources: Claude docs, "Claude on Vertex AI"; for the betas of 2026, BerriAI/litellm
 * (`anthropic_beta_headers_config.json`).
 */
const betas: ReadonlySet<string> = new Set([
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'web-search-2025-03-05',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'context-1m-2025-08-07',
  'tool-search-tool-2025-10-19',
  'compact-2026-01-12',
  'compact-2026-09-04',
  'per-turn-control-2026-07-01',
  'thinking-binding-controls-2026-08-01',
  'thinking-display-updates-2026-08-18',
]);

interface Publisher {
  id: string;
  /** The models that are listed begin so: no others are served. */
  begin: string;
  hosted(model: string): HostedModel;
}

/** The first publisher gets the models whose maker is no other one. */
const publishers: readonly [Publisher, ...Publisher[]] = [
  { id: 'google', begin: 'gemini', hosted: gemini },
  { id: 'anthropic', begin: 'claude', hosted: claude },
];

/**
 * @param model `claude-opus-4-5@20251101`, `gemini-3-pro`, or with the publisher in front: `anthropic/claude-opus-5-5`
 */
export function modelOnVertex(model: string): HostedModel {
  const { maker } = identify(model);
  const publisher = publishers.find(({ id }) => id === maker) ?? publishers[0];
  const prefix = [`publishers/${publisher.id}/models/`, `${publisher.id}/`].find((each) => model.startsWith(each));
  return publisher.hosted(prefix === undefined ? model : model.slice(prefix.length));
}

function pathOf(publisher: string, model: string): string {
  return `/publishers/${publisher}/models/${encodeURIComponent(model).replaceAll('%40', '@')}`;
}

/**
 * Models called through `embedContent`; other embedding models use `:predict`. Source: googleapis/js-genai
 * (`tIsVertexEmbedContentModel`).
 */
function takesContent(model: string): boolean {
  const name = identify(model).model;
  return name.startsWith('gemini-embedding-') && name !== 'gemini-embedding-001';
}

function gemini(model: string): HostedModel {
  return {
    wire: 'gemini-generate',
    embeddingsWire: takesContent(model) ? 'vertex-embed-content' : 'vertex-predict',
    countsTokens: true,
    envelope: ({ path, headers }) => ({
      ...(path.endsWith(':countTokens') && { rewrite: countedByGoogle }),
      path: path.replace('/models/{model}', () => pathOf('google', model)),
      headers: { ...headers },
      omitted: [],
      added: {},
      unavailable: allAvailable,
    }),
    errorBody: (_status, _headers, body) => body,
  };
}

function claude(model: string): HostedModel {
  return {
    wire: 'anthropic-messages',
    embeddingsWire: null,
    countsTokens: true,
    envelope: ({ path, headers, isStream }: EnvelopedRequest) => {
      const { accepted, unavailable } = sortBetas(headers['anthropic-beta'], betas, model);
      const isCount = path === countingPath;
      return {
        path: isCount ? countTokens : `${pathOf('anthropic', model)}:${isStream ? 'streamRawPredict' : 'rawPredict'}`,
        headers: { ...plainHeaders(headers), ...(accepted.length > 0 && { 'anthropic-beta': accepted.join(',') }) },
        // `stream` stays, because Anthropic's own SDK sends it here as well.
        omitted: ['model'],
        unavailable,
        added: { anthropic_version: 'vertex-2023-10-16', ...(isCount && { model }) },
        rewrite: withMarkedBlock,
      };
    },
    errorBody: (status, _headers, body) => claudeError(status, body),
  };
}

/** Source: Google Cloud, "Count tokens for Claude models". */
const countTokens = `${pathOf('anthropic', 'count-tokens')}:rawPredict`;

const countedFields = ['contents', 'systemInstruction', 'tools', 'generationConfig'];

/**
 * Unlike AI Studio, Vertex AI has no `generateContentRequest`. Source: Google Cloud, "publishers.models.countTokens".
 */
function countedByGoogle(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const nested = body.generateContentRequest ?? body.generate_content_request;
  const request = Object.entries(isObject(nested) ? nested : body);
  return Object.fromEntries(
    request.flatMap(([name, value]) => {
      const camelName =
        name === 'system_instruction' ? 'systemInstruction' : name === 'generation_config' ? 'generationConfig' : name;
      return countedFields.includes(camelName) ? [[camelName, value]] : [];
    }),
  );
}

/** Longer errors are not Google's. */
const maxErrorBytes = 64 * 1024;

/**
 * Google's own errors, for example for a wrong token:
 * `{"error":{"code":403,"message":"…","status":"PERMISSION_DENIED"}}`.
 */
function claudeError(status: number, body: Buffer): Buffer {
  if (body.length > maxErrorBytes) return body;
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const top: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    const error = isObject(top) ? top.error : null;
    if (!isObject(error) || typeof error.status !== 'string' || typeof error.message !== 'string') return body;
    // Some regions do not support counting.
    const isUncounted = error.message.includes('/count-tokens');
    return writeClaudeError(isUncounted ? 'invalid_request_error' : claudeErrorType(status), error.message);
  } catch {
    return body;
  }
}

const listOf = (publisher: string) => `/publishers/${publisher}/models?pageSize=200`;
const publisherIn = boundedPattern(/^\/publishers\/([a-z]+)\//);
const projectIn = boundedPattern(/\/projects\/([^/]+)/);

/**
 * The models of the publishers that Sluice knows. Source: Google Cloud, "Vertex AI API", `publishers.models.list`,
 * which exists in v1beta1 only.
 */
const vertexModelPages: ModelPages = {
  first: listOf(publishers[0].id),
  after(page, query) {
    const publisher = publisherIn.exec(query)?.[1] ?? '';
    const token = isObject(page) ? page.nextPageToken : undefined;
    if (typeof token === 'string' && token !== '') return `${listOf(publisher)}&pageToken=${encodeURIComponent(token)}`;
    const next = publishers[publishers.findIndex(({ id }) => id === publisher) + 1];
    return next ? listOf(next.id) : null;
  },
  place({ origin, basePath }, query) {
    const project = projectIn.exec(basePath)?.[1];
    // The path contains no project, so a person's credentials need a header with the project whose quota is used.
    return {
      origin,
      path: `/v1beta1${query}`,
      headers: project === undefined ? {} : { 'x-goog-user-project': project },
    };
  },
  read(page) {
    if (!isObject(page)) return null;
    // For a publisher without models, the member is missing.
    const models = page.publisherModels ?? [];
    return Array.isArray(models) ? models.filter(isObject).flatMap(nameOf) : null;
  },
};

const resourceName = boundedPattern(/^publishers\/([a-z]+)\/models\/(.{1,200})$/);
const dated = boundedPattern(/^\d{8}$/);

/** `publishers/anthropic/models/claude-opus-4-5` with the version 20251101 is called `claude-opus-4-5@20251101`. */
function nameOf({ name, versionId }: Record<string, unknown>): string[] {
  const [, id, model = ''] = (typeof name === 'string' && resourceName.exec(name)) || [];
  const publisher = publishers.find((each) => each.id === id);
  if (!publisher || !model.startsWith(publisher.begin)) return [];
  return [typeof versionId === 'string' && dated.test(versionId) ? `${model}@${versionId}` : model];
}

/**
 * Vertex AI (Google Cloud). Base URLs contain project and location:
 * `https://us-east5-aiplatform.googleapis.com/v1/projects/PROJECT/locations/us-east5`. For the location `global`, the
 * host is `aiplatform.googleapis.com`. A credential is the JSON file of a service account, `application-default`, or an
 * API key. Source: Google Cloud, "Vertex AI REST API".
 */
export const vertexDialect: Dialect = {
  id: 'vertex',
  // The envelope puts it in, percent-encoded.
  putsModelInPath: false,
  address: ({ basePath }, path, query) => basePath + path + query,
  serves: () => false,
  conversationWire: 'gemini-generate',
  embeddingsWire: null,
  defaultHeaders: {},
  bindsReasoning: true,
  modelPages: vertexModelPages,
  hasUnlistedModels: true,
  authorize: plainCredential,
  signing: googleSigning,
  hosted: modelOnVertex,
};
