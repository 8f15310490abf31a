import type { ServerResponse } from 'node:http';
import type { CachedAnswer } from '../../cache/group-cache.ts';
import type { ClientResponse } from '../client-response.ts';
import { sendStored } from '../stored-answer.ts';
import { told } from './answer-tap.ts';
import { cacheHeader } from './may-be-cached.ts';

/** Sends the answer at once, as it was sent before. */
export function sendCached(
  { client, response }: { client: ClientResponse; response: ServerResponse },
  { status, headers, body }: CachedAnswer,
  gone: AbortSignal,
): Promise<void> {
  // Otherwise comments have been sent, while an equal request was waited for.
  if (!response.headersSent) {
    response.setHeader(cacheHeader, 'hit');
    for (const name of told) {
      const value = headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
  }
  const stored = { status, headers, pieces: [{ afterMs: 0, bytes: body }], isCut: false };
  return sendStored(client, stored, { pace: 0, answerer: null, gone });
}
