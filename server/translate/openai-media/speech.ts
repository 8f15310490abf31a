/**
 * Serves `POST /v1/audio/speech` by a Gemini model that generates speech. Sources: OpenAI, API reference, "Create
 * speech"; Google, "Speech generation": 16-bit samples, one channel, 24 kHz, as `audio/L16;codec=pcm;rate=24000`.
 */
import { pattern } from '../../bounded-pattern.ts';
import { invalid } from '../losses.ts';
import { isStreamed } from './images.ts';
import { type MediaOperation, mediaIn, oneOf, whyNothing } from './operation.ts';
import { wavOf } from './wav.ts';

/** OpenAI's voices, which Gemini does not have. */
const openaiVoices = new Set([
  ...['alloy', 'ash', 'ballad', 'coral', 'echo', 'fable', 'onyx', 'nova', 'sage', 'shimmer', 'verse', 'marin', 'cedar'],
]);
/** The voice of Google's examples. */
const usualVoice = 'Kore';
const usualRate = 24_000;
const rateOf = pattern(/rate=(\d{4,6})/);

export const spokenText: MediaOperation = (fields, losses) => {
  const input = fields.requiredText('input');
  const format = oneOf(fields, 'response_format', ['wav', 'pcm']);
  // OpenAI's default is mp3, which the provider does not support.
  if (format === undefined) losses.emulated('response_format', 'no-equal');
  if (isStreamed(fields)) invalid('stream', 'this provider can only send audio');
  if (fields.text('stream_format') === 'sse') invalid('stream_format', 'this provider can only send audio');
  const instructions = fields.text('instructions');
  if (instructions !== undefined) losses.emulated('instructions', 'in-prompt');
  const voice = fields.text('voice') ?? usualVoice;
  const isForeign = openaiVoices.has(voice);
  if (isForeign) losses.emulated('voice', 'no-equal');
  const speed = fields.number('speed');
  if (speed !== undefined && speed !== 1) losses.dropped('speed', 'no-equal');
  fields.ignore('model', 'stream');
  fields.dropRest();
  const text = instructions === undefined ? input : `${instructions}:\n${input}`;
  const voiceConfig = { prebuiltVoiceConfig: { voiceName: isForeign ? usualVoice : voice } };
  return {
    body: {
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: { responseModalities: ['AUDIO'], speechConfig: { voiceConfig } },
    },
    contentType: format === 'pcm' ? 'audio/pcm' : 'audio/wav',
    render(answer) {
      const sounds = mediaIn(answer).filter(({ mimeType }) => mimeType.toLowerCase().startsWith('audio/l16'));
      const [first] = sounds;
      if (first === undefined) return { ok: false, error: whyNothing(answer, 'speech') };
      const samples = Buffer.concat(sounds.map(({ data }) => Buffer.from(data, 'base64')));
      const samplesPerSecond = Number(rateOf.exec(first.mimeType)?.[1] ?? usualRate);
      return { ok: true, body: format === 'pcm' ? samples : wavOf(samples, samplesPerSecond) };
    },
  };
};
