/**
 * Embeddings on Vertex AI. Sources: Google Cloud, "Text embeddings API"; googleapis/js-genai
 * (`embedContentParametersPrivateToVertex`).
 */
import { isObject } from '../../../contract/is-object.ts';
import { mostPredictedTexts } from '../../../models/embedding-facts.ts';
import { wholeNumberOf } from '../../core/number-of.ts';
import { type EmbeddingsUpstream, vectorOf } from '../../neutral/embeddings.ts';

/** `:predict` */
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
