/**
 * Serves `POST /v1/images/generations` by a model of Stability AI on Bedrock. Sources: Amazon Bedrock user guide,
 * "Stable Image Ultra request and response", "Stable Image Core request and response", "Stability.ai Stable Diffusion
 * 3.5 Large" (November 2026).
 */
import type { Fields } from '../fields.ts';
import { refuse } from '../losses.ts';
import { countOf, isStreamed, readOptions, renderImages } from './images.ts';
import type { MediaOperation } from './operation.ts';

const ratios = ['1:1', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21', '16:9', '21:9'] as const;
/** The formats that all of its models support, the default first. */
const formats = ['png', 'jpeg'] as const;

export const stabilityImages: MediaOperation = (fields, losses) => {
  const prompt = fields.requiredText('prompt');
  if (countOf(fields, 'n') > 1) refuse('n', 'no-equal');
  const event = isStreamed(fields) ? 'image_generation.completed' : null;
  const format = formatOf(fields);
  const shape = readOptions(fields, losses, ratios);
  fields.dropRest();
  return {
    body: { prompt, ...(shape && { aspect_ratio: shape }), output_format: format },
    contentType: 'application/json',
    render({ images, finish_reasons: reasons }, createdAt) {
      const base64Images = Array.isArray(images) ? images.filter((image) => typeof image === 'string') : [];
      if (base64Images.length > 0) {
        const imageParts = base64Images.map((data) => ({ mimeType: `image/${format}`, data }));
        return { ok: true, body: renderImages(imageParts, { createdAt, usage: undefined, event }) };
      }
      const reason = Array.isArray(reasons) ? reasons.find((each) => typeof each === 'string') : undefined;
      // "Inference error": another attempt may succeed.
      if (typeof reason !== 'string' || !reason.startsWith('Filter reason')) return null;
      const message = `The model made no image (${reason.slice(0, maxReason)}).`;
      return { ok: false, error: { message, type: 'invalid_request_error', code: 'moderation_blocked' } };
    },
  };
};

const maxReason = 100;

function formatOf(fields: Fields): (typeof formats)[number] {
  const requested = fields.text('output_format');
  const format = formats.find((each) => each === requested);
  if (format === undefined) fields.drop('no-equal', 'output_format');
  return format ?? formats[0];
}
