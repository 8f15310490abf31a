/** Embeddings and moderations of OpenAI's API: their wires, and embeddings in the neutral form and out of it. */

import { isObject } from '../../contract/is-object.ts';
import { mostTextsOfOpenai } from '../../models/model-facts.ts';
import { estimateTokens } from '../core/usage/prompt-estimate.ts';
import { wholeNumberOf } from '../core/usage/reported-usage.ts';
import type { Wire } from '../core/wire.ts';
import { type EmbeddingsAnswer, type EmbeddingsRequest, type EmbeddingsWire, vectorOf } from '../neutral/embeddings.ts';
import { Fields } from '../neutral/fields.ts';
import { invalid, type Losses } from '../neutral/losses.ts';
import { openaiUsage } from './usage/usage.ts';
import { type CommonField, jsonAnswer, jsonRequest, longList } from './wire/formats.ts';

/** `POST /v1/embeddings`. */
export const embeddings: Wire<CommonField> = {
  name: 'openai-embeddings',
  operation: 'embeddings',
  request: jsonRequest,
  errorName: 'code',
  usage: openaiUsage('embeddings', jsonRequest),
  whole: jsonAnswer(['embedding'], { ...longList, isNumbers: true }),
  stream: null,
  rescue: null,
};

/** `POST /v1/moderations`. */
export const moderations: Wire<CommonField> = {
  name: 'openai-moderations',
  operation: 'moderations',
  request: jsonRequest,
  errorName: 'code',
  usage: openaiUsage('moderations', jsonRequest),
  whole: jsonAnswer(['results']),
  stream: null,
  rescue: null,
};

/** `POST /v1/embeddings`. Source: OpenAI, API reference, "Create embeddings". */
export const openaiEmbeddings: EmbeddingsWire = {
  parseRequest,
  mostTexts: () => mostTextsOfOpenai,
  renderRequest: ({ texts, dimensions, purpose }, model, losses) => {
    if (purpose !== undefined) losses.dropped('taskType', 'no-equal');
    return { model, input: texts, dimensions };
  },
  parseAnswer,
  renderVector: (vector, index, form) => ({
    object: 'embedding',
    index,
    embedding: form === 'base64' ? encoded(vector) : vector,
  }),
  renderAnswer,
};

function parseRequest(body: unknown, losses: Losses): EmbeddingsRequest {
  const fields = new Fields(body, '', losses);
  const form = fields.text('encoding_format') === 'base64' ? 'base64' : 'numbers';
  const request: EmbeddingsRequest = {
    model: fields.requiredText('model'),
    texts: textsOf(fields),
    dimensions: fields.number('dimensions'),
    purpose: undefined,
    form,
  };
  fields.drop('no-equal', 'user');
  fields.dropRest();
  return request;
}

/** Reads one text or several. Token arrays are refused, because they are specific to OpenAI's models. */
function textsOf(fields: Fields): string[] {
  const input = fields.any('input');
  if (typeof input === 'string') return [input];
  if (Array.isArray(input) && input.some((item) => typeof item !== 'string'))
    invalid('input', 'this provider accepts texts, not tokens');
  return fields.texts('input') ?? invalid('input', 'it is missing');
}

function parseAnswer(body: unknown): EmbeddingsAnswer | null {
  if (!isObject(body) || !Array.isArray(body.data)) return null;
  const vectors: number[][] = [];
  for (const [position, item] of body.data.entries()) {
    const vector = isObject(item) ? (vectorOf(item.embedding) ?? decoded(item.embedding)) : null;
    if (!isObject(item) || vector === null) return null;
    vectors[placeOf(item.index, position, body.data.length)] = vector;
  }
  const usage = isObject(body.usage) ? body.usage.prompt_tokens : undefined;
  return { vectors, promptTokens: wholeNumberOf(usage) };
}

function placeOf(index: unknown, position: number, count: number): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < count ? index : position;
}

const bytesPerNumber = 4;

/** Decodes base64 of little-endian 32-bit floats. */
function decoded(base64: unknown): number[] | null {
  if (typeof base64 !== 'string') return null;
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: Math.floor(bytes.length / bytesPerNumber) }, (_, index) =>
    bytes.readFloatLE(index * bytesPerNumber),
  );
}

function encoded(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * bytesPerNumber);
  for (const [index, number] of vector.entries()) bytes.writeFloatLE(number, index * bytesPerNumber);
  return bytes.toString('base64');
}

function renderAnswer(promptTokens: number | null, { model, texts }: EmbeddingsRequest): [string, string] {
  // OpenAI's SDKs require a number.
  const tokens = promptTokens ?? texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  const end = { model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return ['{"object":"list","data":[', `],${JSON.stringify(end).slice(1)}`];
}
