/**
 * Serves `POST /v1/audio/transcriptions` and `/v1/audio/translations` by a Gemini model that accepts audio. Sources:
 * OpenAI, API reference, "Create transcription"; Google, "Audio understanding".
 */
import type { Fields } from '../fields.ts';
import { invalid, type Losses } from '../losses.ts';
import { isStreamed } from './images.ts';
import {
  type MediaOperation,
  type MediaRequest,
  oneOf,
  openaiUsageOf,
  textIn,
  typedEvent,
  whyNothing,
} from './operation.ts';
import { filesOf, inlineFile } from './uploaded.ts';

export const transcribedAudio: MediaOperation = (fields, losses) =>
  textOfAudio(fields, losses, 'Transcribe the speech in this audio word for word, in the language that is spoken.');

export const translatedAudio: MediaOperation = (fields, losses) =>
  textOfAudio(fields, losses, 'Translate the speech in this audio into English.');

function textOfAudio(fields: Fields, losses: Losses, task: string): MediaRequest {
  const [file, second] = filesOf(fields, 'file');
  if (file === undefined) invalid('file', 'it is missing');
  if (second !== undefined) invalid('file', 'expected one file');
  const format = oneOf(fields, 'response_format', ['json', 'text']) ?? 'json';
  const isStream = isStreamed(fields);
  const hints = readHints(fields, losses);
  const temperature = fields.formNumber('temperature');
  fields.ignore('model', 'stream');
  fields.drop('no-equal', 'timestamp_granularities', 'include', 'chunking_strategy');
  fields.dropRest();
  const text = [task, ...hints, 'Answer with the text alone. If nothing is said, answer with nothing.'].join(' ');
  return {
    body: {
      contents: [{ role: 'user', parts: [inlineFile(file), { text }] }],
      ...(temperature !== undefined && { generationConfig: { temperature } }),
    },
    contentType: format === 'text' ? 'text/plain; charset=utf-8' : 'application/json',
    render(answer) {
      const transcript = textIn(answer).trim();
      const nothing = whyNothing(answer, 'transcript');
      if (transcript === '' && nothing.code !== null) return { ok: false, error: nothing };
      const tokens = openaiUsageOf(answer);
      const usage = tokens && { type: 'tokens', ...tokens };
      if (isStream) return { ok: true, body: Buffer.from(eventsOf(transcript, usage)) };
      if (format === 'text') return { ok: true, body: Buffer.from(`${transcript}\n`) };
      return { ok: true, body: Buffer.from(JSON.stringify({ text: transcript, usage })) };
    },
  };
}

function readHints(fields: Fields, losses: Losses): string[] {
  const hints: string[] = [];
  const language = fields.text('language');
  if (language !== undefined && language !== '') hints.push(`The language is "${language}".`);
  const prompt = fields.text('prompt');
  if (prompt !== undefined && prompt !== '') hints.push(`Words and spellings that may occur: ${prompt}`);
  if (language) losses.emulated('language', 'in-prompt');
  if (prompt) losses.emulated('prompt', 'in-prompt');
  return hints;
}

function eventsOf(text: string, usage: object | undefined): string {
  const delta = text === '' ? '' : typedEvent({ type: 'transcript.text.delta', delta: text });
  return delta + typedEvent({ type: 'transcript.text.done', text, usage });
}
