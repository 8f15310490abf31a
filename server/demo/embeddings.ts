/**
 * `POST /embeddings`. A vector counts the words and the three-letter pieces of a text in hashed places ("feature hashing"),
 * then is brought to length 1: the same text always gives the same vector, and texts that share words lie near each other.
 */
import type { Call } from './call.ts';
import { DemoError, invalidType, missingParameter } from './demo-error.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { json, type Reply } from './reply.ts';
import type { Route } from './route.ts';
import { countTokens } from './tokens.ts';

const DEFAULT_DIMENSIONS = 1536;
const MAX_INPUTS = 2048;

interface EmbeddingInput {
  features: readonly string[];
  tokens: number;
}

export function createEmbeddingRoutes(): Route[] {
  return [{ method: 'POST', path: '/embeddings', handle: embed }];
}

async function embed(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  const model = modelOf(parameters, 'embeddings');
  const dimensions = parameters.integer('dimensions', { min: 1, max: 4096 }) ?? DEFAULT_DIMENSIONS;
  const format = parameters.oneOf('encoding_format', ['float', 'base64']) ?? 'float';
  const inputs = readInputs(parameters);
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input.features, dimensions);
    return { object: 'embedding', index, embedding: format === 'base64' ? toBase64(vector) : Array.from(vector) };
  });
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0);
  return json({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

function readInputs(parameters: Parameters): EmbeddingInput[] {
  const input = parameters.raw('input');
  if (input === undefined) throw missingParameter('input');
  const isOne = typeof input === 'string' || isTokens(input);
  const list = isOne ? [input] : input;
  if (!Array.isArray(list)) throw invalidType('input', 'a string or an array');
  if (list.length === 0 || list.length > MAX_INPUTS) throw refusedInput(`must hold 1 to ${MAX_INPUTS} items`);
  return list.map(readInput);
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => Number.isInteger(item));
}

function readInput(input: unknown): EmbeddingInput {
  if (isTokens(input)) return { features: input.map((token) => `token ${token}`), tokens: input.length };
  if (typeof input !== 'string') throw invalidType('input', 'strings, or arrays of token numbers');
  if (input === '') throw refusedInput('cannot be an empty string');
  return { features: featuresOf(input), tokens: countTokens(input) };
}

function refusedInput(explanation: string): DemoError {
  return new DemoError({ status: 400, param: 'input', message: `Invalid 'input': input ${explanation}.` });
}

function featuresOf(text: string): string[] {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [text];
  return words.flatMap((word) => [word, ...piecesOf(`^${word}$`)]);
}

function piecesOf(word: string): string[] {
  return Array.from({ length: Math.max(word.length - 2, 0) }, (_, start) => word.slice(start, start + 3));
}

function vectorOf(features: readonly string[], dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const feature of features) {
    const hash = fnv1a(feature);
    const place = (hash >>> 1) % dimensions;
    vector[place] = (vector[place] ?? 0) + (hash & 1 ? 1 : -1);
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  // Features of opposite sign may meet in one place and leave nothing; a fixed direction is then as good as any.
  if (length === 0) vector[0] = 1;
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** The 32-bit FNV-1a hash of a text's UTF-16 units. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}

/** Little-endian float32, whatever the machine. */
function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4);
  });
  return bytes.toString('base64');
}
