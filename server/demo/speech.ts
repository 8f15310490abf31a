/** `POST /audio/speech`: the text as tones (see `tones.ts`), in a WAV file or as bare samples. */
import { isObject } from '../contract/is-object.ts';
import type { Call } from './call.ts';
import { DemoError, invalidType, invalidValue, missingParameter } from './demo-error.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { binary, events, type Reply, type ServerEvent, typedEvent } from './reply.ts';
import type { Route } from './route.ts';
import { countTokens } from './tokens.ts';
import { SAMPLE_RATE, textToSamples } from './tones.ts';
import { encodePcm, encodeWav } from './wav.ts';

const MAX_CHARACTERS = 4096;
const EVENT_BYTES = 24_000;
const TOKENS_PER_SECOND = 10;

export function createSpeechRoutes(): Route[] {
  return [{ method: 'POST', path: '/audio/speech', handle: speak }];
}

async function speak(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  modelOf(parameters, 'speech');
  const input = readInput(parameters);
  requireVoice(parameters);
  const isPcm = readFormat(parameters) === 'pcm';
  const isStream = parameters.oneOf('stream_format', ['audio', 'sse']) === 'sse';
  const samples = textToSamples(input, parameters.number('speed', { min: 0.25, max: 4 }));
  const bytes = isPcm ? encodePcm(samples) : encodeWav(samples, SAMPLE_RATE);
  if (isStream) return events(speechEvents(bytes, usageOf(input, samples)));
  return binary(bytes, isPcm ? 'audio/pcm' : 'audio/wav');
}

function readInput(parameters: Parameters): string {
  const input = parameters.requiredString('input');
  if (input === '') throw invalidValue('input', 'it is empty');
  if (input.length <= MAX_CHARACTERS) return input;
  const message = `Invalid 'input': string too long. Expected a string with maximum length ${MAX_CHARACTERS}.`;
  throw new DemoError({ status: 400, code: 'string_above_max_length', param: 'input', message });
}

/** Any voice is accepted, and all sound the same. */
function requireVoice(parameters: Parameters): void {
  const voice = parameters.raw('voice');
  if (voice === undefined) throw missingParameter('voice');
  if (typeof voice !== 'string' && !isObject(voice)) throw invalidType('voice', 'a string or an object');
}

/** OpenAI's default is mp3. Who does not ask for a format gets WAV, which players take as well; who asks for mp3 is told. */
function readFormat(parameters: Parameters): 'wav' | 'pcm' {
  return parameters.oneOf('response_format', ['wav', 'pcm']) ?? 'wav';
}

function usageOf(input: string, samples: Int16Array) {
  const [inputTokens, outputTokens] = [
    countTokens(input),
    Math.ceil((samples.length / SAMPLE_RATE) * TOKENS_PER_SECOND),
  ];
  return { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

function* speechEvents(bytes: Buffer, usage: object): Generator<ServerEvent> {
  for (let start = 0; start < bytes.length; start += EVENT_BYTES) {
    const audio = bytes.subarray(start, start + EVENT_BYTES).toString('base64');
    yield typedEvent({ type: 'speech.audio.delta', audio });
  }
  yield typedEvent({ type: 'speech.audio.done', usage });
}
