import { isObject } from '../../contract/is-object.ts';
import { numberOf } from '../core/number-of.ts';
import { imagesUsage } from '../core/usage/images-usage.ts';
import type { RequestFormat, RequestView, Wire } from '../core/wire.ts';
import { geminiAnswer } from './generate.ts';
import { geminiRequest } from './request.ts';

/** Google, "Generate images using Imagen": one to four, four by default. */
const maxImages = 4;

const fields = [...geminiRequest.fields, 'parameters'] as const;

type PredictField = (typeof fields)[number];

function requested(body: RequestView<PredictField>): number {
  const parameters = body.field('parameters');
  const count = numberOf(isObject(parameters) ? parameters.sampleCount : undefined);
  return count >= 1 ? Math.min(Math.trunc(count), maxImages) : maxImages;
}

const request: RequestFormat<PredictField> = {
  ...geminiRequest,
  fields,
  answersAsked: requested,
  answersPaid: requested,
};

function countIn({ predictions }: Record<string, unknown>): number | null {
  if (!Array.isArray(predictions)) return null;
  return predictions.filter((each) => isObject(each) && each.bytesBase64Encoded !== undefined).length;
}

/** `:predict`, with which Imagen makes images. */
export const predict: Wire<PredictField> = {
  name: 'gemini-predict',
  operation: 'images',
  request,
  whole: geminiAnswer(['predictions'], { isNeverLonger: false, maxHeldBytes: 32 * 1024 * 1024 }),
  errorName: 'status',
  usage: imagesUsage({ countIn, requested }),
  stream: null,
  rescue: null,
};
