/**
 * Serves `POST /v1/images/generations` and `/v1/images/edits` by a Gemini image model. Sources: OpenAI, API reference,
 * "Images"; Google, "Image generation" (`responseModalities`, `imageConfig.aspectRatio`).
 */
import type { Fields } from '../fields.ts';
import { invalid, type Losses, refuse } from '../losses.ts';
import {
  type InlineData,
  type MediaOperation,
  type MediaRequest,
  mediaIn,
  oneOf,
  openaiUsageOf,
  typedEvent,
  whyNothing,
} from './operation.ts';
import { filesOf, inlineFile, linkedImages } from './uploaded.ts';

type Json = Record<string, unknown>;

export const generatedImages: MediaOperation = (fields, losses) => {
  const prompt = fields.requiredText('prompt');
  return imagesBy(fields, losses, { parts: [{ text: prompt }], event: 'image_generation.completed' });
};

export const editedImages: MediaOperation = (fields, losses) => {
  const prompt = fields.requiredText('prompt');
  const files = filesOf(fields, 'image').map(inlineFile);
  const images = files.length > 0 ? files : linkedImages(fields);
  if (images.length === 0) invalid('image', 'it is missing');
  // Without the mask, the model would change other parts of the image.
  if (fields.any('mask') !== undefined) refuse('mask', 'no-equal');
  fields.drop('no-equal', 'input_fidelity');
  return imagesBy(fields, losses, { parts: [...images, { text: prompt }], event: 'image_edit.completed' });
};

function imagesBy(fields: Fields, losses: Losses, { parts, event }: { parts: Json[]; event: string }): MediaRequest {
  if (countOf(fields, 'n') > 1) refuse('n', 'no-equal');
  const isStream = isStreamed(fields);
  fields.drop('no-equal', 'output_format');
  const shape = readOptions(fields, losses, ratios);
  const generationConfig = {
    responseModalities: ['IMAGE'],
    ...(shape && { imageConfig: { aspectRatio: shape } }),
  };
  fields.dropRest();
  return {
    body: { contents: [{ role: 'user', parts }], generationConfig },
    contentType: 'application/json',
    render(answer, createdAt) {
      const images = mediaIn(answer);
      if (images.length === 0) return { ok: false, error: whyNothing(answer, 'image') };
      return {
        ok: true,
        body: renderImages(images, { createdAt, usage: openaiUsageOf(answer), event: isStream ? event : null }),
      };
    },
  };
}

/** In a form, `stream` is text. */
export function isStreamed(fields: Fields): boolean {
  const stream = fields.any('stream');
  return stream === true || stream === 'true';
}

export function countOf(fields: Fields, name: string): number {
  const count = fields.formNumber(name) ?? 1;
  return Number.isInteger(count) && count > 0 ? count : invalid(name, 'expected a positive whole number');
}

/**
 * Reads the options that all image models have in common. Returns the nearest of their aspect ratios; undefined if the
 * model may choose.
 */
export function readOptions<T extends string>(
  fields: Fields,
  losses: Losses,
  allowedRatios: readonly T[],
): T | undefined {
  fields.ignore('model', 'n', 'stream');
  oneOf(fields, 'response_format', ['b64_json']);
  fields.drop('no-equal', 'quality', 'background', 'output_compression', 'moderation', 'style');
  fields.drop('no-equal', 'user', 'partial_images');
  const size = fields.text('size');
  if (size === undefined || size === 'auto') return undefined;
  const ratio = nearestRatio(size, allowedRatios) ?? invalid('size', 'expected WIDTHxHEIGHT or auto');
  // The model decides the resolution.
  losses.emulated('size', 'out-of-range');
  return ratio;
}

/** Google, "Image generation", "Aspect ratios". */
const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;

function nearestRatio<T extends string>(size: string, allowedRatios: readonly T[]): T | null {
  const [width = Number.NaN, height = Number.NaN] = size.split('x').map(Number);
  const wantedLog = Math.log(width / height);
  if (!Number.isFinite(wantedLog)) return null;
  const distance = (ratio: string) => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(across / down) - wantedLog);
  };
  return allowedRatios.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}

interface ImagesAnswer {
  createdAt: number;
  usage: Json | undefined;
  /** The type of a stream's last event; null for a whole answer. */
  event: string | null;
}

export function renderImages(images: readonly InlineData[], { createdAt, usage, event }: ImagesAnswer): Buffer {
  const format = images[0]?.mimeType.replace('image/', '');
  const members = { output_format: format, ...(usage && { usage }) };
  if (event !== null) {
    const events = images.map(({ data }) =>
      typedEvent({ type: event, b64_json: data, created_at: createdAt, ...members }),
    );
    return Buffer.from(events.join(''));
  }
  // Base64 needs no escapes, and `JSON.stringify` would search megabytes for them.
  const data = images.map((image) => `{"b64_json":"${image.data}"}`).join(',');
  const rest = JSON.stringify(members).slice(1);
  return Buffer.from(`{"created":${createdAt},"data":[${data}],${rest}`);
}
