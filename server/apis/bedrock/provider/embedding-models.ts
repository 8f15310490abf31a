import { boundedPattern } from '../../../ground/bounded-pattern.ts';

/** `amazon.titan-embed-text-v2:0`, `us.cohere.embed-v4:0`, or an ARN that ends in such a name. */
const embeddingModel = boundedPattern(/(?:^|[./])(?:amazon\.titan-embed-(?:g1-)?text|cohere\.embed)-[^/]{0,200}$/);

/** Whether the model makes text embeddings in a format that Sluice knows. */
export function makesEmbeddings(model: string): boolean {
  return embeddingModel.test(model);
}
