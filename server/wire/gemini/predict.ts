import { isObject } from '../../contract/is-object.ts';
import type { ExtractedUsage, UsageFormat, Wire } from '../wire.ts';
import { geminiAnswer, geminiRequest } from './generate.ts';
import { geminiErrors } from './read-error.ts';

/** Google, "Generate images using Imagen": one to four, four by default. */
const mostImages = 4;

/** Images are paid by number. */
const predictUsage: UsageFormat = {
  likely: () => ({ images: mostImages }),
  worst: () => ({ images: mostImages }),
  hints: () => ({}),
  read({ document }): ExtractedUsage {
    const predictions = document?.predictions;
    if (!Array.isArray(predictions)) return { usage: null, certainty: 'none', status: null };
    const images = predictions.filter((each) => isObject(each) && each.bytesBase64Encoded !== undefined).length;
    return { usage: { images }, certainty: 'reported', status: null };
  },
  text: null,
};

/** `:predict`, with which Imagen makes images. */
export const predict: Wire = {
  name: 'gemini-predict',
  operation: 'images',
  request: geminiRequest,
  whole: geminiAnswer(['predictions'], { isNeverLonger: false, maxHeldBytes: 32 * 1024 * 1024 }),
  errors: geminiErrors,
  usage: predictUsage,
  stream: null,
  rescue: null,
};
