/** Vertex AI as a provider: how it is addressed, and its models. */
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { Dialect, ModelPages } from '../../core/dialects/dialect.ts';
import { googleSigning, plainCredential } from './credential.ts';
import { modelOnVertex, publishers } from './models.ts';

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
