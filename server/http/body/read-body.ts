import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../contract/errors.ts';
import { joinBytes } from '../json/join-bytes.ts';
import { releaseChunk } from './release-chunk.ts';

/**
 * Between these lengths a body of known length is copied together as it comes, so that the memory of one chunk serves for the
 * next. Below, it is one chunk; above, nobody's word is enough to set so much memory aside.
 */
const copiedFromBytes = 64 * 1024;
const copiedToBytes = 1024 * 1024;

/** To be called before a body is read: a client may wait for this word before it sends one. */
export function sendContinue({ headers, httpVersion }: IncomingMessage, response: ServerResponse): void {
  if (httpVersion === '1.1' && headers.expect?.toLowerCase().includes('100-continue')) response.writeContinue();
}

/** Gathers a body in memory. Refuses at once what is, or turns out to be, longer than `maxBytes`. */
export function readBody(request: IncomingMessage, response: ServerResponse, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) return Promise.reject(tooLarge(maxBytes, announced));
  sendContinue(request, response);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const whole = announced > copiedFromBytes && announced <= copiedToBytes ? Buffer.allocUnsafe(announced) : null;
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        request.off('data', onData);
        reject(tooLarge(maxBytes, size));
      } else if (whole) {
        chunk.copy(whole, size - chunk.length);
        releaseChunk(chunk);
      } else chunks.push(chunk);
    };
    request.on('data', onData);
    request.on('end', () => resolve(whole ?? join(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new ClientGone());
    });
  });
}

/** Each chunk goes as it is copied, so that a long body is there little more than once. */
function join(chunks: readonly Buffer[]): Buffer | Promise<Buffer> {
  const [first] = chunks;
  return first && chunks.length === 1 ? first : joinBytes(chunks, releaseChunk);
}

/** The client hung up before its request was complete: nobody is left to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

function tooLarge(maxBytes: number, bytes: number): GatewayError {
  return new GatewayError('too_large', `Maximum content size limit (${maxBytes}) exceeded (${bytes} bytes read).`);
}
