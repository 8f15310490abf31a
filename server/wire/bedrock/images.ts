import { imagesUsage } from '../images-usage.ts';
import type { Wire } from '../wire.ts';
import { converseRequest, judgeError } from './converse.ts';
import { bedrockErrors } from './read-error.ts';

/** Answers that were filtered have reasons and no images. */
function countIn({ images, finish_reasons: reasons }: Record<string, unknown>): number | null {
  if (Array.isArray(images)) return images.length;
  return Array.isArray(reasons) ? 0 : null;
}

/** Images by InvokeModel, one for each request, in the form of Stability AI. */
export const bedrockImages: Wire = {
  name: 'bedrock-images',
  operation: 'images',
  request: converseRequest,
  whole: {
    kind: 'json',
    marks: ['"images"', '"finish_reasons"'],
    isNeverLonger: false,
    maxHeldBytes: 32 * 1024 * 1024,
    isNumbers: false,
    judge: (answer) => judgeError(answer, countIn(answer) !== null),
  },
  errors: bedrockErrors,
  usage: imagesUsage({ countIn, requested: () => 1 }),
  stream: null,
  rescue: null,
};
