import type { InferenceRoute } from '../inference-routes.ts';
import type { IncomingBody } from './incoming-body.ts';

const textFormats: readonly unknown[] = ['text', 'srt', 'vtt'];

/** Whether a transcript is to be plain text or subtitles, rather than JSON. */
export function asksForText({ capability }: InferenceRoute, body: IncomingBody): boolean {
  if (capability !== 'transcription' && capability !== 'translation') return false;
  return textFormats.includes(body.field('response_format'));
}
