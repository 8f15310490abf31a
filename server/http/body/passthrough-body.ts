/**
 * Bodies of passthrough requests: short ones are held, since what they name may decide who is asked; longer ones are forwarded
 * without being held. All are searched for objects of other groups, and sent on as they came, compressed or not.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import type { ForeignObjects } from '../../exchange/plan/foreign-objects.ts';
import type { RequestBody } from '../../exchange/request/request-body.ts';
import { bodyTooLarge } from './body-faults.ts';
import { codingsOf, decodeWhole } from './content-coding.ts';
import { emptyBody } from './incoming-body.ts';
import { type BodyAccount, readBody } from './read-body.ts';
import { idsInBytes, searchOf } from './search-body.ts';
import { type BodyCheck, StreamedBody, streamedBytes } from './streamed-body.ts';

interface PassthroughOptions {
  limits: Settings['limits'];
  account: BodyAccount;
  /** The rest of a streamed body will not arrive; `RequestBody.fault` says why. */
  bodyBroke(): void;
  /** The whole body is needed before the request is sent. */
  isHeld: boolean;
  foreignObjects(): ForeignObjects;
}

/** Bodies up to this size are held. */
const heldBytes = 64 * 1024;

export async function receivePassthroughBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limits, account, bodyBroke, isHeld, foreignObjects }: PassthroughOptions,
): Promise<RequestBody> {
  const { headers } = request;
  const isLengthKnown = headers['transfer-encoding'] === undefined;
  const length = isLengthKnown ? Number(headers['content-length'] ?? 0) : null;
  if (length === 0) return emptyBody;
  const maxBytes = limits.multipartBodyBytes;
  if (length !== null && length > maxBytes) throw bodyTooLarge(maxBytes, length);
  const contentType = headers['content-type'] ?? '';
  const isCompressed = codingsOf(headers).length > 0;
  if (isHeld || isCompressed || (length !== null && length <= heldBytes)) {
    const mostBytes = isCompressed ? limits.jsonBodyBytes : maxBytes;
    const bytes = await readBody(request, response, { maxBytes: mostBytes, account, isEncoded: true });
    return await heldBody(bytes, headers, mostBytes);
  }
  account.add(streamedBytes);
  const check = checkOf(contentType, foreignObjects());
  return new StreamedBody(request, response, { length, maxBytes, contentType, bodyBroke, check });
}

/** `bytes`: as the client sent them, and as they are sent on. */
async function heldBody(bytes: Buffer, headers: IncomingHttpHeaders, maxBytes: number): Promise<RequestBody> {
  const contentType = headers['content-type'] ?? '';
  const codings = codingsOf(headers);
  const plain = codings.length === 0 ? bytes : await decodeWhole(bytes, codings, maxBytes);
  if (plain === null) throw unreadable(maxBytes);
  return {
    ...emptyBody,
    contentType,
    size: bytes.length,
    captured: plain,
    sendable: async () => ({ length: bytes.length, open: () => bytes, usageAsked: false }),
    referencedIds: await idsInBytes(plain, contentType),
  };
}

function unreadable(maxBytes: number): GatewayError {
  const message = `The body of this request cannot be decoded as its content-encoding says, into at most ${maxBytes} bytes, so that Sluice cannot tell which objects it names. Send it without that coding.`;
  return new GatewayError('invalid_value', message, { param: 'content-encoding' });
}

function checkOf(contentType: string, objects: ForeignObjects): BodyCheck {
  const search = searchOf(contentType);
  return {
    take: (chunk) => objects.refuse(search.take(chunk)),
    end: () => objects.refuse(search.end()),
  };
}
