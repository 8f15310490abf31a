/**
 * Embeddings by Amazon's and Cohere's models on Bedrock, each in its vendor's format. Sources: Amazon Bedrock user
 * guide, "Amazon Titan Embeddings G1 - Text", "Cohere Embed v3", "Cohere Embed v4".
 */
import { isObject } from '../../../contract/is-object.ts';
import { bedrockEmbedder } from '../../../models/model-facts.ts';
import { wholeNumberOf } from '../../core/usage/reported-usage.ts';
import { type EmbeddingsAnswer, type EmbeddingsUpstream, vectorOf } from '../../neutral/embeddings.ts';
import { refuse } from '../../neutral/losses.ts';

export const bedrockEmbeddings: EmbeddingsUpstream = {
  mostTexts: (model) => bedrockEmbedder(model)?.mostTexts ?? 1,
  renderRequest({ texts, purpose, dimensions, form }, model, losses) {
    const facts = bedrockEmbedder(model) ?? refuse('model', 'no-equal');
    // Vectors of another length would be useless to the client.
    if (dimensions !== undefined && facts.dimensions === null)
      refuse(form === 'single' ? 'outputDimensionality' : 'dimensions', 'model-takes-none');
    const length = facts.dimensions === null ? {} : { [facts.dimensions]: dimensions };
    if (facts.form === 'cohere') {
      return {
        texts,
        input_type: inputTypes[purpose ?? ''] ?? 'search_document',
        embedding_types: ['float'],
        ...length,
      };
    }
    if (purpose !== undefined) losses.dropped('taskType', 'no-equal');
    return { inputText: texts[0], ...length };
  },
  parseAnswer(body) {
    if (!isObject(body)) return null;
    const { embedding, embeddings, inputTextTokenCount: tokens } = body;
    const list = isObject(embeddings) ? embeddings.float : (embeddings ?? [embedding]);
    const vectors = Array.isArray(list) ? list.map(vectorOf) : [null];
    return vectors.every((vector) => vector !== null) ? answer(vectors, tokens) : null;
  },
};

/** By Gemini's `taskType`. Cohere requires an input type; that of documents is the default. */
const inputTypes: Record<string, string> = {
  RETRIEVAL_QUERY: 'search_query',
  QUESTION_ANSWERING: 'search_query',
  CODE_RETRIEVAL_QUERY: 'search_query',
  CLASSIFICATION: 'classification',
  CLUSTERING: 'clustering',
};

function answer(vectors: number[][], tokens: unknown): EmbeddingsAnswer {
  return { vectors, promptTokens: wholeNumberOf(tokens) };
}
