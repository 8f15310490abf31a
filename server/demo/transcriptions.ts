/** Transcriptions and translations: read the text back from the samples of a sound that the demo made. */
import type { Call } from './call.ts';
import { DemoError, invalidValue } from './demo-error.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { events, json, type Reply, type ServerEvent, text, typedEvent } from './reply.ts';
import type { Route } from './route.ts';
import { segmentsOf, type TimedText, toSrt, toVtt, wordsOf } from './subtitles.ts';
import { countTokens, tokenize } from './tokens.ts';
import { SAMPLE_RATE, samplesToText } from './tones.ts';
import { decodeWav } from './wav.ts';

interface Heard {
  text: string;
  /** Seconds; 0 where the file does not tell. */
  duration: number;
}

const formats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
const TOKENS_PER_SECOND = 10;

export function createTranscriptionRoutes(): Route[] {
  return [
    { method: 'POST', path: '/audio/transcriptions', handle: transcribe },
    { method: 'POST', path: '/audio/translations', handle: translate },
  ];
}

async function transcribe(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  modelOf(parameters, 'transcription');
  const format = parameters.oneOf('response_format', formats) ?? 'json';
  const granularities = readGranularities(parameters, format);
  const heard = await listen(parameters.requiredFile('file'));
  const usage = tokenUsage(heard, parameters.string('prompt') ?? '');
  if (parameters.boolean('stream')) return events(transcriptEvents(heard.text, usage));
  if (format === 'json') return json({ text: heard.text, usage });
  if (format !== 'verbose_json') return text(plainForm(heard, format));
  const verbose = { task: 'transcribe', language: parameters.string('language') ?? 'english' };
  const words = granularities.includes('word') ? { words: wordsOf(heard.text, heard.duration).map(wireWord) } : {};
  const seconds = { type: 'duration', seconds: Math.ceil(heard.duration) };
  return json({ ...verbose, ...verboseForm(heard), ...words, usage: seconds });
}

/** The demo knows no languages: a translation is the text as it is. It is never streamed and bears no usage, as OpenAI's. */
async function translate(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  modelOf(parameters, 'translation');
  const format = parameters.oneOf('response_format', formats) ?? 'json';
  const heard = await listen(parameters.requiredFile('file'));
  if (format === 'json') return json({ text: heard.text });
  if (format !== 'verbose_json') return text(plainForm(heard, format));
  return json({ task: 'translate', language: 'english', ...verboseForm(heard) });
}

function readGranularities(parameters: Parameters, format: (typeof formats)[number]): readonly unknown[] {
  const granularities = parameters.list('timestamp_granularities');
  if (granularities.length > 0 && format !== 'verbose_json') {
    throw invalidValue('timestamp_granularities', "it needs a 'response_format' of verbose_json");
  }
  return granularities;
}

async function listen(file: File): Promise<Heard> {
  const bytes = Buffer.from(await file.bytes());
  if (bytes.length === 0) {
    throw new DemoError({
      status: 400,
      param: 'file',
      message: 'Audio file might be corrupted or unsupported: it is empty.',
    });
  }
  const sound = decodeWav(bytes);
  if (!sound) return { text: foreign(`${bytes.length} bytes named ${file.name}, which is no WAV file.`), duration: 0 };
  const spoken = sound.sampleRate === SAMPLE_RATE ? samplesToText(sound.samples) : undefined;
  const seconds = sound.duration.toFixed(1);
  const description = `a sound of ${seconds} seconds, ${sound.sampleRate} samples a second, ${sound.channels} channel(s).`;
  return { text: spoken ?? foreign(description), duration: sound.duration };
}

function foreign(description: string): string {
  return `Sluice's demo provider can only transcribe speech that it made itself. This is ${description}`;
}

function plainForm(heard: Heard, format: 'text' | 'srt' | 'vtt'): string {
  if (format === 'text') return `${heard.text}\n`;
  const segments = segmentsOf(heard.text, heard.duration);
  return format === 'srt' ? toSrt(segments) : toVtt(segments);
}

function verboseForm(heard: Heard) {
  const segments = segmentsOf(heard.text, heard.duration).map(wireSegment);
  return { duration: heard.duration, text: heard.text, segments };
}

function wireSegment({ text: spoken, start, end }: TimedText, id: number) {
  const quality = { temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };
  return { id, seek: Math.round(start * 100), start, end, text: spoken, tokens: [], ...quality };
}

function wireWord({ text: word, start, end }: TimedText) {
  return { word, start, end };
}

function tokenUsage(heard: Heard, prompt: string) {
  const audioTokens = Math.ceil(heard.duration * TOKENS_PER_SECOND);
  const [textTokens, outputTokens] = [countTokens(prompt), countTokens(heard.text)];
  return {
    type: 'tokens',
    input_tokens: audioTokens + textTokens,
    input_token_details: { text_tokens: textTokens, audio_tokens: audioTokens },
    output_tokens: outputTokens,
    total_tokens: audioTokens + textTokens + outputTokens,
  };
}

function* transcriptEvents(spoken: string, usage: object): Generator<ServerEvent> {
  for (const delta of tokenize(spoken)) yield typedEvent({ type: 'transcript.text.delta', delta });
  yield typedEvent({ type: 'transcript.text.done', text: spoken, usage });
}
