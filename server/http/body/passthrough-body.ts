/** Bodies of passthrough requests: short JSON is searched for ids; anything else is forwarded without being held. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Settings } from '../../contract/settings.ts';
import type { RequestBody } from '../../exchange/request/request-body.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { emptyBody } from './incoming-body.ts';
import { type BodyAccount, bodyTooLarge, readBody } from './read-body.ts';
import { referencedIds } from './referenced-ids.ts';
import { StreamedBody, streamedBytes } from './streamed-body.ts';

export interface BodyUser {
  /** The rest of a streamed body will not arrive; `RequestBody.fault` says why. */
  bodyBroke(): void;
}

interface PassthroughOptions {
  limits: Settings['limits'];
  account: BodyAccount;
  exchange: BodyUser;
  /** The whole body is needed before the request is sent. */
  isHeld: boolean;
}

const jsonType = boundedPattern(/^application\/json\b/i);
/** JSON up to this size is held and searched. */
const searchedBytes = 64 * 1024;

export async function receivePassthroughBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limits, account, exchange, isHeld }: PassthroughOptions,
): Promise<RequestBody> {
  const { headers } = request;
  const isLengthKnown = headers['transfer-encoding'] === undefined;
  const length = isLengthKnown ? Number(headers['content-length'] ?? 0) : null;
  if (length === 0) return emptyBody;
  const maxBytes = limits.multipartBodyBytes;
  if (length !== null && length > maxBytes) throw bodyTooLarge(maxBytes, length);
  const contentType = headers['content-type'] ?? '';
  if (length !== null && length <= searchedBytes && jsonType.test(contentType)) {
    return shortBody(await readBody(request, response, { maxBytes: searchedBytes, account }), contentType);
  }
  if (isHeld) return heldBody(await readBody(request, response, { maxBytes, account }), contentType);
  account.add(streamedBytes);
  return new StreamedBody(request, response, { length, maxBytes, contentType, exchange });
}

function shortBody(bytes: Buffer, contentType: string): RequestBody {
  return { ...heldBody(bytes, contentType), referencedIds: referencedIds(bytes) };
}

function heldBody(bytes: Buffer, contentType: string): RequestBody {
  return {
    ...emptyBody,
    contentType,
    size: bytes.length,
    captured: bytes,
    sendable: async () => ({ length: bytes.length, open: () => bytes, usageAsked: false }),
  };
}
