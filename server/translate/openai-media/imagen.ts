/**
 * Serves `POST /v1/images/generations` by an Imagen model. Source: Google, "Generate images using Imagen" (`:predict`).
 */
import { isObject } from '../../contract/is-object.ts';
import { invalid } from '../losses.ts';
import { countOf, isStreamed, readOptions, renderImages } from './images.ts';
import type { InlineData, MediaOperation } from './operation.ts';

type Json = Record<string, unknown>;

const maxImages = 4;
const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9'] as const;

export const imagenImages: MediaOperation = (fields, losses) => {
  const prompt = fields.requiredText('prompt');
  const sampleCount = countOf(fields, 'n');
  if (sampleCount > maxImages) invalid('n', `this provider makes at most ${maxImages} images at a time`);
  const event = isStreamed(fields) ? 'image_generation.completed' : null;
  fields.drop('no-equal', 'output_format');
  const aspectRatio = readOptions(fields, losses, ratios);
  fields.dropRest();
  return {
    body: { instances: [{ prompt }], parameters: { sampleCount, ...(aspectRatio && { aspectRatio }) } },
    contentType: 'application/json',
    render(answer, createdAt) {
      const { predictions } = answer;
      const images = Array.isArray(predictions) ? predictions.flatMap(imageOf) : [];
      if (images.length > 0) return { ok: true, body: renderImages(images, { createdAt, usage: undefined, event }) };
      const message = 'The model made no image: all were filtered for their content.';
      return { ok: false, error: { message, type: 'invalid_request_error', code: 'moderation_blocked' } };
    },
  };
};

function imageOf(prediction: unknown): InlineData[] {
  if (!isObject(prediction)) return [];
  const { bytesBase64Encoded: data, mimeType }: Json = prediction;
  return typeof data === 'string' ? [{ mimeType: String(mimeType ?? 'image/png'), data }] : [];
}
