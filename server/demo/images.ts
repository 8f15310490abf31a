/** Images: generations, edits and variations, as PNG in base64; streamed, the hills appear one after the other. */
import { isObject } from '../contract/is-object.ts';
import type { Call } from './call.ts';
import { DemoError, invalidType, invalidValue, missingParameter } from './demo-error.ts';
import { digest } from './ids.ts';
import { drawLandscape, HILLS } from './landscape.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { encodePng } from './png.ts';
import { events, json, type Reply, type ServerEvent, typedEvent } from './reply.ts';
import type { Route, RouteContext } from './route.ts';
import { countTokens } from './tokens.ts';

interface ImageRequest {
  /** Names the stream's events. */
  kind: 'image_generation' | 'image_edit';
  prompt: string;
  /** The bytes of uploaded pictures, or the address of pictures elsewhere, which is not fetched. */
  sources: readonly (Uint8Array | string)[];
  count: number;
  size: { width: number; height: number };
  background: 'opaque' | 'transparent';
  quality: string;
  asUrl: boolean;
  stream: boolean;
  partialImages: number;
  createdAt: number;
}

const MAX_PIXELS = 4096 * 2160;
const PIXELS_PER_TOKEN = 1024;
const TOKENS_PER_SOURCE = 256;

export function createImageRoutes(context: RouteContext): Route[] {
  return [
    { method: 'POST', path: '/images/generations', handle: (call) => generate(call, context) },
    { method: 'POST', path: '/images/edits', handle: (call) => edit(call, context) },
    { method: 'POST', path: '/images/variations', handle: (call) => vary(call, context) },
  ];
}

async function generate(call: Call, context: RouteContext): Promise<Reply> {
  const parameters = await call.parameters();
  const request = readImageRequest(parameters, context);
  return answer({ ...request, kind: 'image_generation', prompt: parameters.requiredString('prompt') });
}

async function edit(call: Call, context: RouteContext): Promise<Reply> {
  const parameters = await call.parameters();
  const request = readImageRequest(parameters, context);
  const sources = await readSources(parameters);
  return answer({ ...request, kind: 'image_edit', prompt: parameters.requiredString('prompt'), sources });
}

async function vary(call: Call, context: RouteContext): Promise<Reply> {
  const parameters = await call.parameters();
  const request = readImageRequest(parameters, context);
  return answer({ ...request, kind: 'image_edit', prompt: '', sources: await readSources(parameters), stream: false });
}

function readImageRequest(parameters: Parameters, context: RouteContext): Omit<ImageRequest, 'kind' | 'prompt'> {
  modelOf(parameters, 'images');
  parameters.oneOf('output_format', ['png']);
  const quality = parameters.string('quality');
  return {
    sources: [],
    count: parameters.integer('n', { min: 1, max: 10 }) ?? 1,
    size: readSize(parameters.string('size') ?? 'auto'),
    background: parameters.string('background') === 'transparent' ? 'transparent' : 'opaque',
    quality: quality === undefined || quality === 'auto' ? 'medium' : quality,
    asUrl: parameters.oneOf('response_format', ['b64_json', 'url']) === 'url',
    stream: parameters.boolean('stream'),
    partialImages: parameters.integer('partial_images', { min: 0, max: 3 }) ?? 0,
    createdAt: Math.floor(context.now() / 1000),
  };
}

function readSize(size: string): ImageRequest['size'] {
  if (size === 'auto') return { width: 1024, height: 1024 };
  const [, width = 0, height = 0] = (/^(\d{2,4})x(\d{2,4})$/.exec(size) ?? []).map(Number);
  if (width < 16 || height < 16 || width * height > MAX_PIXELS) {
    throw invalidValue('size', `use auto or WIDTHxHEIGHT, from 16x16 to ${MAX_PIXELS} pixels`);
  }
  return { width, height };
}

/** Files of a form, or the `images` of the JSON form, each a data URL, an address or the id of a file. */
async function readSources(parameters: Parameters): Promise<ImageRequest['sources']> {
  const references = parameters.list('images').map(readReference);
  if (references.length > 0) return references;
  const files = parameters.files('image');
  if (files.length === 0) throw missingParameter('image');
  if (files.length > 16) throw invalidValue('image', 'send at most 16 images');
  const [mask] = parameters.files('mask');
  return Promise.all([...files, ...(mask ? [mask] : [])].map(async (file) => requirePicture(await file.bytes())));
}

function readReference(reference: unknown, index: number): Uint8Array | string {
  const address = isObject(reference) ? (reference.image_url ?? reference.file_id) : undefined;
  if (typeof address !== 'string') throw invalidType(`images[${index}]`, 'an object with image_url or file_id');
  const [, base64] = /^data:image\/[a-z]+;base64,(.*)$/s.exec(address) ?? [];
  return base64 === undefined ? address : requirePicture(Buffer.from(base64, 'base64'));
}

/** PNG, JPEG and WebP by their first bytes. */
function requirePicture(bytes: Uint8Array): Uint8Array {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (/^(\x89PNG|\xff\xd8\xff|RIFF....WEBP)/s.test(head)) return bytes;
  const message = 'Invalid image file. Supported formats are png, jpeg and webp.';
  throw new DemoError({ status: 400, code: 'invalid_image_file', param: 'image', message });
}

async function answer(request: ImageRequest): Promise<Reply> {
  if (request.stream) return events(imageEvents(request));
  const indices = Array.from({ length: request.count }, (_, index) => index);
  const data = await Promise.all(
    indices.map(async (index) => wireImage(await draw(request, index, HILLS), request.asUrl)),
  );
  return json({ created: request.createdAt, data, ...settings(request), usage: usageOf(request, request.count) });
}

function wireImage(base64: string, asUrl: boolean) {
  return asUrl ? { url: `data:image/png;base64,${base64}` } : { b64_json: base64 };
}

async function* imageEvents(request: ImageRequest): AsyncGenerator<ServerEvent> {
  const common = { created_at: request.createdAt, ...settings(request) };
  for (let index = 0; index < request.count; index += 1) {
    for (let partial = 0; partial < request.partialImages; partial += 1) {
      const partialImage = { b64_json: await draw(request, index, partial + 1), partial_image_index: partial };
      yield typedEvent({ type: `${request.kind}.partial_image`, ...common, ...partialImage });
    }
    const b64Json = await draw(request, index, HILLS);
    yield typedEvent({ type: `${request.kind}.completed`, ...common, b64_json: b64Json, usage: usageOf(request, 1) });
  }
}

async function draw(request: ImageRequest, index: number, hills: number): Promise<string> {
  const seed = digest(request.prompt, ...request.sources, String(index));
  const isTransparent = request.background === 'transparent';
  const png = await encodePng(drawLandscape({ ...request.size, seed, isTransparent, hills }));
  return png.toString('base64');
}

function settings({ size, background, quality }: ImageRequest) {
  return { size: `${size.width}x${size.height}`, background, quality, output_format: 'png' };
}

/** One token for 1024 pixels drawn, 256 for a picture sent. */
function usageOf({ prompt, sources, size }: ImageRequest, images: number) {
  const textTokens = countTokens(prompt);
  const imageTokens = sources.length * TOKENS_PER_SOURCE;
  const outputTokens = images * Math.ceil((size.width * size.height) / PIXELS_PER_TOKEN);
  return {
    input_tokens: textTokens + imageTokens,
    input_tokens_details: { text_tokens: textTokens, image_tokens: imageTokens },
    output_tokens: outputTokens,
    output_tokens_details: { text_tokens: 0, image_tokens: outputTokens },
    total_tokens: textTokens + imageTokens + outputTokens,
  };
}
