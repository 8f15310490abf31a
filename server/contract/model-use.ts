/**
 * Guesses the use of a model from its name. Does not import zod, because the window imports it. Nothing may depend on a
 * correct guess.
 */
import { identify } from './model-identity.ts';

const modelUses = ['chat', 'embeddings', 'images', 'speech', 'transcription', 'moderations', 'videos'] as const;
export type ModelUse = (typeof modelUses)[number];

const signs: readonly (readonly [ModelUse | 'other', readonly string[]])[] = [
  ['embeddings', ['embed', 'bge-', 'e5-']],
  ['images', ['image', 'dall-e', 'banana', 'flux', 'imagen', 'stable-diffusion', 'sdxl']],
  ['speech', ['tts', 'speech', 'orpheus']],
  ['transcription', ['whisper', 'transcri']],
  ['moderations', ['moderation']],
  ['videos', ['video', 'sora', 'veo-']],
  ['other', ['rerank', 'realtime', 'guard']],
];

/** Null for any other use, such as ranking texts. */
export function purposeOf(model: string): ModelUse | null {
  const name = identify(model).written;
  const use = signs.find(([, parts]) => parts.some((part) => name.includes(part)))?.[0] ?? 'chat';
  return use === 'other' ? null : use;
}
