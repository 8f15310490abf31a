/** `POST /embeddings`. The same text always has the same vector, of length 1; texts that share words are close. */
import { createHash } from 'node:crypto';
import { inputTokensOf } from './answer.ts';
import type { Call } from './call.ts';
import { DemoError, json, type Reply } from './reply.ts';

const usualDimensions = 1536;
const maxDimensions = 4096;

export function embed({ fields: { input, model, dimensions, encoding_format: format } }: Call): Reply {
  if (input === undefined) throw new DemoError(400, "Missing required parameter: 'input'.");
  const length = Math.min(Math.max(Math.trunc(Number(dimensions ?? usualDimensions)) || 1, 1), maxDimensions);
  // A list of numbers is one text in tokens.
  const texts = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const data = texts.map((text, index) => {
    const vector = vectorOf(String(text), length);
    return { object: 'embedding', index, embedding: format === 'base64' ? inBase64(vector) : vector };
  });
  const tokens = inputTokensOf(input);
  return json({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

/** Counts the text's words in places that their hashes choose ("feature hashing"). */
function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    const place = createHash('sha256').update(word).digest().readUInt32LE() % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Little-endian float32 on any machine. */
function inBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
