/** `:batchEmbedContents` and `:embedContent`. Source: Google, "Gemini API reference", "Embeddings". */
import { isObject } from '../../../contract/is-object.ts';
import { mostPredictedTexts, mostTextsOfGemini } from '../../../models/model-facts.ts';
import { wholeNumberOf } from '../../core/usage/reported-usage.ts';
import {
  type EmbeddingsAnswer,
  type EmbeddingsRequest,
  type EmbeddingsUpstream,
  type EmbeddingsWire,
  vectorOf,
} from '../../neutral/embeddings.ts';
import { Fields } from '../../neutral/fields.ts';
import { invalid, type Losses, refuse } from '../../neutral/losses.ts';
import { inCamelCase } from '../request.ts';

export const geminiEmbeddings: EmbeddingsWire = {
  parseRequest,
  mostTexts: () => mostTextsOfGemini,
  renderRequest: ({ texts, dimensions, purpose }, model) => ({
    requests: texts.map((text) => ({
      model: model.includes('/') ? model : `models/${model}`,
      content: { parts: [{ text }] },
      taskType: purpose,
      outputDimensionality: dimensions,
    })),
  }),
  parseAnswer,
  renderVector: (values) => ({ values }),
  renderAnswer,
};

/** @param body includes `model`, taken from the URL */
function parseRequest(body: unknown, losses: Losses): EmbeddingsRequest {
  const fields = new Fields(inCamelCase(body), '', losses);
  const model = fields.requiredText('model');
  fields.ignore('stream');
  const batch = fields.any('requests') === undefined ? null : fields.items('requests');
  const parsed = (batch ?? [fields]).map(parseOne);
  fields.dropRest();
  const [first] = parsed;
  if (first === undefined) return invalid('requests', 'expected at least one');
  const other = parsed.findIndex(
    ({ purpose, dimensions }) => purpose !== first.purpose || dimensions !== first.dimensions,
  );
  if (other !== -1) invalid(`requests[${other}]`, 'another provider accepts only requests with the same settings');
  const { purpose, dimensions } = first;
  return { model, texts: parsed.map(({ text }) => text), purpose, dimensions, form: batch ? 'numbers' : 'single' };
}

function parseOne(request: Fields) {
  request.ignore('model');
  const content = request.fields('content') ?? invalid(request.path('content'), 'it is missing');
  content.ignore('role');
  const texts = content.items('parts').map((part) => {
    const text = part.text('text') ?? refuse(part.at, 'media');
    part.dropRest();
    return text;
  });
  content.dropRest();
  request.drop('no-equal', 'title', 'autoTruncate');
  const purpose = request.text('taskType');
  const dimensions = request.number('outputDimensionality');
  if (request.at !== '') request.dropRest();
  return { text: texts.join('\n'), purpose, dimensions };
}

function parseAnswer(body: unknown): EmbeddingsAnswer | null {
  if (!isObject(body)) return null;
  const list = Array.isArray(body.embeddings) ? body.embeddings : [body.embedding];
  const vectors = list.map((item) => (isObject(item) ? vectorOf(item.values) : null));
  const { usageMetadata } = body;
  const tokens = isObject(usageMetadata) ? usageMetadata.promptTokenCount : undefined;
  return vectors.every((vector) => vector !== null) ? { vectors, promptTokens: wholeNumberOf(tokens) } : null;
}

function renderAnswer(promptTokens: number | null, { form }: EmbeddingsRequest): [string, string] {
  const usage = promptTokens === null ? '' : `,"usageMetadata":{"promptTokenCount":${promptTokens}}`;
  return form === 'single' ? ['{"embedding":', `${usage}}`] : ['{"embeddings":[', `]${usage}}`];
}

/**
 * Embeddings on Vertex AI. Sources: Google Cloud, "Text embeddings API"; googleapis/js-genai
 * (`embedContentParametersPrivateToVertex`).
 *
 * `:predict`
 */
export const predictedEmbeddings: EmbeddingsUpstream = {
  mostTexts: mostPredictedTexts,
  renderRequest({ texts, purpose, dimensions }) {
    const instances = texts.map((content) => ({ content, task_type: purpose }));
    return { instances, parameters: { outputDimensionality: dimensions } };
  },
  parseAnswer(body) {
    const predictions = isObject(body) && Array.isArray(body.predictions) ? body.predictions : [null];
    const embeddings = predictions.map((each) => (isObject(each) && isObject(each.embeddings) ? each.embeddings : {}));
    const vectors = embeddings.map(({ values }) => vectorOf(values));
    const counts = embeddings.map(({ statistics }) =>
      isObject(statistics) ? wholeNumberOf(statistics.token_count) : null,
    );
    const isCounted = counts.every((count) => count !== null);
    const promptTokens = isCounted ? wholeNumberOf(counts.reduce((sum, count) => sum + count, 0)) : null;
    return vectors.every((vector) => vector !== null) ? { vectors, promptTokens } : null;
  },
};

/** `:embedContent` */
export const embeddedContent: EmbeddingsUpstream = {
  mostTexts: () => 1,
  renderRequest({ texts, purpose, dimensions }) {
    const embedContentConfig = { taskType: purpose, outputDimensionality: dimensions };
    return { content: { parts: [{ text: texts[0] }] }, embedContentConfig };
  },
  parseAnswer(body) {
    if (!isObject(body)) return null;
    const { embedding, usageMetadata } = body;
    const vector = isObject(embedding) ? vectorOf(embedding.values) : null;
    const tokens = isObject(usageMetadata) ? usageMetadata.promptTokenCount : undefined;
    return vector && { vectors: [vector], promptTokens: wholeNumberOf(tokens) };
  },
};
