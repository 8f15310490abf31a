/**
 * Transcriptions and translations: the text that the demo stored in a sound it made; for any other file, a sentence
 * saying that the demo cannot transcribe it.
 */
import type { Call } from './call.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { events, json, type Reply, type ServerEvent, text, typedEvent } from './reply.ts';
import type { Route } from './route.ts';
import { readSpokenText, soundSeconds } from './sound.ts';
import { countTokens, tokenize } from './tokens.ts';

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
  const transcript = await readSpeech(parameters);
  if (parameters.boolean('stream')) return events(transcriptEvents(transcript));
  const language = parameters.string('language') ?? 'english';
  const details = {
    language,
    words: wordsOf(transcript),
    usage: { type: 'duration', seconds: soundSeconds(transcript) },
  };
  return reply(parameters, transcript, {
    json: { usage: tokenUsage(transcript) },
    verbose: { task: 'transcribe', ...details },
  });
}

/** Returns the text untranslated. As at OpenAI, a translation has no usage and is never streamed. */
async function translate(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  modelOf(parameters, 'translation');
  const verbose = { task: 'translate', language: 'english' };
  return reply(parameters, await readSpeech(parameters), { json: {}, verbose });
}

async function readSpeech(parameters: Parameters): Promise<string> {
  const file = parameters.requiredFile('file');
  const explanation = `Sluice's demo provider can only transcribe speech that it made itself. This is ${file.name}.`;
  return readSpokenText(Buffer.from(await file.arrayBuffer())) ?? explanation;
}

/** `extra`: the fields that a format adds to the text. */
function reply(parameters: Parameters, transcript: string, extra: { json: object; verbose: object }): Reply {
  const duration = soundSeconds(transcript);
  switch (parameters.oneOf('response_format', formats)) {
    case 'text':
      return text(`${transcript}\n`);
    case 'srt':
      return text(`1\n${clock(0, ',')} --> ${clock(duration, ',')}\n${transcript}\n\n`);
    case 'vtt':
      return text(`WEBVTT\n\n${clock(0, '.')} --> ${clock(duration, '.')}\n${transcript}\n\n`);
    case 'verbose_json':
      return json({ ...extra.verbose, duration, text: transcript, segments: [segmentOf(transcript)] });
    default:
      return json({ text: transcript, ...extra.json });
  }
}

function segmentOf(transcript: string) {
  const quality = { temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };
  return { id: 0, seek: 0, start: 0, end: soundSeconds(transcript), text: transcript, tokens: [], ...quality };
}

/** Times in seconds; each word has an equal share. */
function wordsOf(transcript: string) {
  const words = transcript.match(/\S+/g) ?? [];
  const share = soundSeconds(transcript) / words.length;
  return words.map((word, index) => ({ word, start: index * share, end: (index + 1) * share }));
}

/** Such as `00:01:02,500`, with `separator` before the milliseconds. */
function clock(seconds: number, separator: string): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', separator);
}

function tokenUsage(transcript: string) {
  const [inputTokens, outputTokens] = [
    Math.ceil(soundSeconds(transcript) * TOKENS_PER_SECOND),
    countTokens(transcript),
  ];
  return {
    type: 'tokens',
    input_tokens: inputTokens,
    input_token_details: { text_tokens: 0, audio_tokens: inputTokens },
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function* transcriptEvents(transcript: string): Generator<ServerEvent> {
  for (const delta of tokenize(transcript)) yield typedEvent({ type: 'transcript.text.delta', delta });
  yield typedEvent({ type: 'transcript.text.done', text: transcript, usage: tokenUsage(transcript) });
}
