/** How many texts embedding models take at a time, by the way they are called. As of 2026-11-22. */
import { createFamilies } from './model-families.ts';

/** OpenAI, API reference, "Create embeddings": "any array must be 2048 dimensions or less". Also the most that a client may ask for. */
export const mostTextsOfOpenai = 2_048;

/**
 * `:batchEmbedContents` of the Gemini API, whatever the model: "at most 100 requests can be in one batch" (its error message;
 * langchain-ai/langchainjs#4491, vercel/ai#16575).
 */
export const mostTextsOfGemini = 100;

/** Source: Google Cloud, "Text embeddings API". */
const textsByPredict = createFamilies({ 'gemini-embedding-001': 1 });
const usualTextsByPredict = 250;

/** Maximum number of texts per request for a model on Vertex AI that is called through `:predict`. */
export function mostPredictedTexts(model: string): number {
  return textsByPredict(model) ?? usualTextsByPredict;
}

interface BedrockEmbedder {
  form: 'titan' | 'cohere';
  mostTexts: number;
  /** The field for the length of the vectors; null if the length is fixed. */
  dimensions: 'dimensions' | 'output_dimension' | null;
}

const titan: BedrockEmbedder = { form: 'titan', mostTexts: 1, dimensions: null };
const cohere: BedrockEmbedder = { form: 'cohere', mostTexts: 96, dimensions: null };

/**
 * Undefined if the model does not create text embeddings. Sources: Amazon Bedrock user guide, "Amazon Titan Embeddings G1
 * - Text", "Cohere Embed v3", "Cohere Embed v4".
 */
export const bedrockEmbedder = createFamilies<BedrockEmbedder>({
  'titan-embed-text': titan,
  'titan-embed-g1-text': titan,
  'titan-embed-text-v2': { ...titan, dimensions: 'dimensions' },
  embed: cohere,
  'embed-v4': { ...cohere, dimensions: 'output_dimension' },
});
