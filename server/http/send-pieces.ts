import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemErrorCode } from '../ground/files/file-problem.ts';

/**
 * Sends text as it is made. Rejects if a piece cannot be made, and breaks the response off; resolves if the client
 * disconnects.
 */
export async function sendPieces(pieces: AsyncIterable<string>, response: ServerResponse): Promise<void> {
  await pipeline(Readable.from(pieces), response).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
}
