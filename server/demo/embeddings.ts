/**
 * `POST /embeddings`. A vector counts the words of a text in hashed positions ("feature hashing") and has length 1. The
 * same text always has the same vector, and texts that share words are close to each other.
 */
import type { Call } from './call.ts';
import { missingParameter } from './demo-error.ts';
import { digest } from './ids.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { json, type Reply } from './reply.ts';
import type { Route } from './route.ts';
import { countTokens } from './tokens.ts';

const DEFAULT_DIMENSIONS = 1536;

export function createEmbeddingRoutes(): Route[] {
  return [{ method: 'POST', path: '/embeddings', handle: embed }];
}

async function embed(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  const model = modelOf(parameters, 'embeddings');
  const dimensions = parameters.integer('dimensions', { min: 1, max: 4096 }) ?? DEFAULT_DIMENSIONS;
  const isBase64 = parameters.oneOf('encoding_format', ['float', 'base64']) === 'base64';
  const texts = readTexts(parameters);
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, dimensions);
    return { object: 'embedding', index, embedding: isBase64 ? toBase64(vector) : Array.from(vector) };
  });
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  return json({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

/** One text or several; token numbers count as words. */
function readTexts(parameters: Parameters): string[] {
  const input = parameters.raw('input');
  if (input === undefined || input === '') throw missingParameter('input');
  const isOne = !Array.isArray(input) || typeof input[0] === 'number';
  return (isOne ? [input] : input).map((item: unknown) => (Array.isArray(item) ? item.join(' ') : String(item)));
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
  for (const word of words) {
    const index = digest(word).readUInt32LE() % dimensions;
    vector[index] = (vector[index] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Little-endian float32 on any machine. */
function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
