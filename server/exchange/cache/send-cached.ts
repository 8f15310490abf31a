import type { ServerResponse } from 'node:http';
import type { CachedAnswer } from '../../cache/group-cache.ts';
import type { ClientResponse } from '../answer/client-response.ts';
import { sendStored } from '../answer/stored-answer.ts';
import { lossHeaderNames } from './cache-recorder.ts';
import { cacheHeader } from './may-be-cached.ts';

/** Sends a cached answer at once, with the bytes of the original. */
export function sendCached(
  { client, response }: { client: ClientResponse; response: ServerResponse },
  { status, headers, body }: CachedAnswer,
  clientGone: AbortSignal,
): Promise<void> {
  // False if keep-alive comments were sent while this request waited for an equal one.
  if (!response.headersSent) {
    response.setHeader(cacheHeader, 'hit');
    for (const name of lossHeaderNames) {
      const value = headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
  }
  const stored = { status, headers, pieces: [{ afterMs: 0, bytes: body }], isCut: false };
  return sendStored(client, stored, { pace: 0, answerer: null, clientGone });
}
