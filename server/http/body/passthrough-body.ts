/**
 * Bodies of passthrough requests: short JSON is searched for ids; anything else is forwarded without being held. All are sent
 * on as they came, compressed or not.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Settings } from '../../contract/settings.ts';
import type { RequestBody } from '../../exchange/request/request-body.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { bodyTooLarge } from './body-faults.ts';
import { codingsOf, decodeWhole } from './content-coding.ts';
import { emptyBody } from './incoming-body.ts';
import { type BodyAccount, readBody } from './read-body.ts';
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
  const isSearched = length !== null && length <= searchedBytes && jsonType.test(contentType);
  if (isSearched || isHeld) {
    const bytes = await readBody(request, response, { maxBytes, account, isEncoded: true });
    const plain = await plainBytes(headers, bytes, isSearched ? searchedBytes : maxBytes);
    return heldBody({ bytes, plain, contentType, isSearched });
  }
  account.add(streamedBytes);
  return new StreamedBody(request, response, { length, maxBytes, contentType, exchange });
}

interface Held {
  /** As the client sent them, and as they are sent on. */
  bytes: Buffer;
  /** Decoded, to be searched and kept; null if they cannot be. */
  plain: Buffer | null;
  contentType: string;
  isSearched: boolean;
}

function heldBody({ bytes, plain, contentType, isSearched }: Held): RequestBody {
  return {
    ...emptyBody,
    contentType,
    size: bytes.length,
    captured: plain,
    sendable: async () => ({ length: bytes.length, open: () => bytes, usageAsked: false }),
    ...(isSearched && plain && { referencedIds: referencedIds(plain) }),
  };
}

/** What is passed on needs no coding that Sluice knows. */
async function plainBytes(headers: IncomingHttpHeaders, bytes: Buffer, maxBytes: number): Promise<Buffer | null> {
  try {
    const codings = codingsOf(headers);
    return codings.length === 0 ? bytes : await decodeWhole(bytes, codings, maxBytes);
  } catch {
    return null;
  }
}
