import { pattern } from '../../bounded-pattern.ts';
import type { IncomingBody } from '../../http/body/incoming-body.ts';
import type { InferenceRoute } from '../routes.ts';

const jsonFormat = pattern(/json/i);

/** Whether a transcript is to be plain text or subtitles, of which servers know many kinds, rather than JSON. */
export function asksForText({ capability }: InferenceRoute, body: IncomingBody): boolean {
  if (capability !== 'transcription' && capability !== 'translation') return false;
  const format = body.field('response_format');
  return typeof format === 'string' && format !== '' && !jsonFormat.test(format);
}
