import { pattern } from '../../bounded-pattern.ts';

/**
 * `stability.stable-image-ultra-v1:1`, or an ARN that ends in such a name: those that draw what a text describes. Amazon's Titan Image
 * Generator and Nova Canvas ended in June and September 2026. Source: Amazon Bedrock user guide, "Stability AI models", "Model lifecycle".
 */
const imageModel = pattern(/(?:^|[./])stability\.(?:sd3-5-large|stable-image-(?:core|ultra))-v[^/]{0,200}$/);

/** Whether the model makes images of a text, in a form that is known. */
export function makesImages(model: string): boolean {
  return imageModel.test(model);
}
