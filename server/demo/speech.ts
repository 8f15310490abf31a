/** `POST /audio/speech`: one beep per character (`sound.ts`) as a WAV file or raw samples, or a fixed MP3 file. */
import type { Call } from './call.ts';
import { missingParameter } from './demo-error.ts';
import { modelOf } from './models.ts';
import { mp3Sample } from './mp3-sample.ts';
import { binary, events, type Reply, type ServerEvent, typedEvent } from './reply.ts';
import type { Route } from './route.ts';
import { encodePcm, encodeWav, soundSeconds } from './sound.ts';
import { countTokens } from './tokens.ts';

const EVENT_BYTES = 24_000;
const TOKENS_PER_SECOND = 10;

export function createSpeechRoutes(): Route[] {
  return [{ method: 'POST', path: '/audio/speech', handle: speak }];
}

/** OpenAI's default format is mp3. The demo's default is WAV, from which it can transcribe the text again. */
async function speak(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  modelOf(parameters, 'speech');
  const input = parameters.requiredString('input');
  if (parameters.raw('voice') === undefined) throw missingParameter('voice');
  const format = parameters.oneOf('response_format', ['wav', 'pcm', 'mp3']) ?? 'wav';
  const isStream = parameters.oneOf('stream_format', ['audio', 'sse']) === 'sse';
  const bytes = encoders[format](input);
  if (isStream) return events(speechEvents(bytes, usageOf(input)));
  return binary(bytes, format === 'mp3' ? 'audio/mpeg' : `audio/${format}`);
}

const encoders = { wav: encodeWav, pcm: encodePcm, mp3: () => mp3Sample };

function usageOf(input: string) {
  const inputTokens = countTokens(input);
  const outputTokens = Math.ceil(soundSeconds(input) * TOKENS_PER_SECOND);
  return { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

function* speechEvents(bytes: Buffer, usage: object): Generator<ServerEvent> {
  for (let start = 0; start < bytes.length; start += EVENT_BYTES) {
    const audio = bytes.subarray(start, start + EVENT_BYTES).toString('base64');
    yield typedEvent({ type: 'speech.audio.delta', audio });
  }
  yield typedEvent({ type: 'speech.audio.done', usage });
}
