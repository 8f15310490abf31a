import { isObject } from '../../contract/is-object.ts';
import { imagesUsage } from '../core/usage/images-usage.ts';
import type { MeasuredRequest, Wire } from '../core/wire.ts';
import { geminiAnswer, geminiRequest } from './generate.ts';
import { geminiErrors } from './read-error.ts';

/** Google, "Generate images using Imagen": one to four, four by default. */
const maxImages = 4;

function requested(body: MeasuredRequest): number {
  const parameters = body.field('parameters');
  const count = isObject(parameters) ? parameters.sampleCount : undefined;
  return typeof count === 'number' && count >= 1 ? Math.min(Math.trunc(count), maxImages) : maxImages;
}

function countIn({ predictions }: Record<string, unknown>): number | null {
  if (!Array.isArray(predictions)) return null;
  return predictions.filter((each) => isObject(each) && each.bytesBase64Encoded !== undefined).length;
}

/** `:predict`, with which Imagen makes images. */
export const predict: Wire = {
  name: 'gemini-predict',
  operation: 'images',
  request: geminiRequest,
  whole: geminiAnswer(['predictions'], { isNeverLonger: false, maxHeldBytes: 32 * 1024 * 1024 }),
  errors: geminiErrors,
  usage: imagesUsage({ countIn, requested }),
  stream: null,
  rescue: null,
};
