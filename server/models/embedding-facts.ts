/** Limits of embedding models in clouds. As of 2026-11-22. */
import { familyOf } from './model-families.ts';

/** Source: Google Cloud, "Text embeddings API". */
const textsByPredict: Record<string, number> = { 'gemini-embedding-001': 1 };
const usualTextsByPredict = 250;

/** Maximum number of texts per request for a model on Vertex AI that is called through `:predict`. */
export function mostPredictedTexts(model: string): number {
  return familyOf(textsByPredict, model.slice(model.lastIndexOf('/') + 1)) ?? usualTextsByPredict;
}

interface BedrockEmbedder {
  form: 'titan' | 'cohere';
  mostTexts: number;
  /** The field for the length of the vectors; null if the length is fixed. */
  dimensions: 'dimensions' | 'output_dimension' | null;
}

const titan: BedrockEmbedder = { form: 'titan', mostTexts: 1, dimensions: null };
const cohere: BedrockEmbedder = { form: 'cohere', mostTexts: 96, dimensions: null };

/** Sources: Amazon Bedrock user guide, "Amazon Titan Embeddings G1 - Text", "Cohere Embed v3", "Cohere Embed v4". */
const onBedrock: Record<string, BedrockEmbedder> = {
  'amazon.titan-embed-text': titan,
  'amazon.titan-embed-g1-text': titan,
  'amazon.titan-embed-text-v2': { ...titan, dimensions: 'dimensions' },
  'cohere.embed': cohere,
  'cohere.embed-v4': { ...cohere, dimensions: 'output_dimension' },
};

/**
 * Null if the model does not create text embeddings.
 * @param model `amazon.titan-embed-text-v2:0`, `us.cohere.embed-v4:0`, or an ARN that ends in such a name
 */
export function bedrockEmbedder(model: string): BedrockEmbedder | null {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return familyOf(onBedrock, name) ?? familyOf(onBedrock, name.slice(name.indexOf('.') + 1)) ?? null;
}
