/**
 * Image generations, edits and variations. The result is a gradient as base64-encoded PNG (`picture.ts`). Uploaded
 * pictures are counted but not read.
 */
import type { Call } from './call.ts';
import { invalidValue, missingParameter } from './demo-error.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { drawPicture, type PictureSize, parseSize } from './picture.ts';
import { events, json, type Reply, type ServerEvent, typedEvent } from './reply.ts';
import type { Route, RouteContext } from './route.ts';
import { countTokens } from './tokens.ts';

interface ImageRequest {
  prompt: string;
  /** Number of uploaded or referenced pictures, including the mask. */
  sources: number;
  count: number;
  size: PictureSize;
  quality: string;
  partialImages: number;
  /** Unix seconds. */
  createdAt: number;
}

const PIXELS_PER_TOKEN = 1024;
const TOKENS_PER_SOURCE = 256;

export function createImageRoutes({ now }: RouteContext): Route[] {
  return [
    { method: 'POST', path: '/images/generations', handle: (call) => generate(call, now()) },
    { method: 'POST', path: '/images/edits', handle: (call) => edit(call, now()) },
    { method: 'POST', path: '/images/variations', handle: (call) => vary(call, now()) },
  ];
}

async function generate(call: Call, nowMs: number): Promise<Reply> {
  const parameters = await call.parameters();
  const request = readImageRequest(parameters, nowMs);
  return answer(parameters, { ...request, prompt: parameters.requiredString('prompt') }, 'image_generation');
}

async function edit(call: Call, nowMs: number): Promise<Reply> {
  const parameters = await call.parameters();
  const request = readImageRequest(parameters, nowMs);
  const sources = countSources(parameters);
  return answer(parameters, { ...request, prompt: parameters.requiredString('prompt'), sources }, 'image_edit');
}

async function vary(call: Call, nowMs: number): Promise<Reply> {
  const parameters = await call.parameters();
  return answer(
    parameters,
    { ...readImageRequest(parameters, nowMs), sources: countSources(parameters) },
    'image_edit',
  );
}

function readImageRequest(parameters: Parameters, nowMs: number): ImageRequest {
  modelOf(parameters, 'images');
  parameters.oneOf('output_format', ['png']);
  const quality = parameters.string('quality') ?? 'auto';
  return {
    prompt: '',
    sources: 0,
    count: parameters.integer('n', { min: 1, max: 10 }) ?? 1,
    size: readSize(parameters.string('size') ?? 'auto'),
    quality: quality === 'auto' ? 'medium' : quality,
    partialImages: parameters.integer('partial_images', { min: 0, max: 3 }) ?? 0,
    createdAt: Math.floor(nowMs / 1000),
  };
}

function readSize(text: string): PictureSize {
  const size = parseSize(text === 'auto' ? '1024x1024' : text);
  if (size && Math.max(size.width, size.height) <= 4096) return size;
  throw invalidValue('size', 'use auto or WIDTHxHEIGHT with up to 4096 pixels a side');
}

/** The files of a form, or the `images` of a JSON body. */
function countSources(parameters: Parameters): number {
  const pictures = parameters.list('images').length || parameters.files('image').length;
  if (pictures === 0) throw missingParameter('image');
  return pictures + parameters.files('mask').length;
}

type EventPrefix = 'image_generation' | 'image_edit';

async function answer(parameters: Parameters, request: ImageRequest, prefix: EventPrefix): Promise<Reply> {
  if (parameters.boolean('stream')) return events(imageEvents(request, prefix));
  const asUrl = parameters.oneOf('response_format', ['b64_json', 'url']) === 'url';
  const indices = Array.from({ length: request.count }, (_, index) => index);
  const images = await Promise.all(indices.map((index) => draw(request, index)));
  const data = images.map((image) => (asUrl ? { url: `data:image/png;base64,${image}` } : { b64_json: image }));
  return json({ created: request.createdAt, data, ...settings(request), usage: usageOf(request, request.count) });
}

/** The partial images are equal to the finished one. */
async function* imageEvents(request: ImageRequest, prefix: EventPrefix): AsyncGenerator<ServerEvent> {
  for (let index = 0; index < request.count; index += 1) {
    const image = { created_at: request.createdAt, ...settings(request), b64_json: await draw(request, index) };
    for (let partial = 0; partial < request.partialImages; partial += 1) {
      yield typedEvent({ type: `${prefix}.partial_image`, ...image, partial_image_index: partial });
    }
    yield typedEvent({ type: `${prefix}.completed`, ...image, usage: usageOf(request, 1) });
  }
}

/** Base64 of a PNG. */
async function draw({ size, prompt }: ImageRequest, index: number): Promise<string> {
  return (await drawPicture(size, `${prompt} ${index}`)).toString('base64');
}

function settings({ size, quality }: ImageRequest) {
  return { size: `${size.width}x${size.height}`, background: 'opaque', quality, output_format: 'png' };
}

function usageOf({ prompt, sources, size }: ImageRequest, images: number) {
  const textTokens = countTokens(prompt);
  const imageTokens = sources * TOKENS_PER_SOURCE;
  const outputTokens = images * Math.ceil((size.width * size.height) / PIXELS_PER_TOKEN);
  return {
    input_tokens: textTokens + imageTokens,
    input_tokens_details: { text_tokens: textTokens, image_tokens: imageTokens },
    output_tokens: outputTokens,
    output_tokens_details: { text_tokens: 0, image_tokens: outputTokens },
    total_tokens: textTokens + imageTokens + outputTokens,
  };
}
