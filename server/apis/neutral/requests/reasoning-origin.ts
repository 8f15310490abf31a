/**
 * Finds the origin of the newest sealed reasoning of a conversation without parsing the request. Only that origin can
 * read it, so the conversation should be sent there again.
 */

import type { Origin, Seal } from '../conversation.ts';
import { envelopeBeginnings, isUnbound, unwrapSeals } from './carried-reasoning.ts';

/** Long enough for the origin in an envelope's base64, which precedes the data. */
const readLength = 4_096;
const quote = 0x22;

/** The origin of the last envelope in a JSON body; null if there is none, or if any provider can read it. */
export function carriedOrigin(body: Buffer): Origin | null {
  const start = Math.max(...envelopeBeginnings.map((beginning) => body.lastIndexOf(`"${beginning}`))) + 1;
  if (start === 0) return null;
  const end = body.indexOf(quote, start);
  if (end === -1) return null;
  const [seal] = unwrapSeals(body.toString('latin1', start, Math.min(end, start + readLength)), 'signature');
  return bindingOrigin(seal);
}

export function bindingOrigin(seal: Seal | undefined): Origin | null {
  return seal?.origin && !isUnbound(seal) ? seal.origin : null;
}

const resultId = Buffer.from('"tool_call_id"');
/** More parallel calls than models make. */
const maxResults = 64;
const longestId = 256;
const backslash = 0x5c;

/** The ids of a chat's newest tool results, newest first, if they are written without escapes. */
export function newestResultIds(body: Buffer, maxIds = maxResults): string[] {
  const ids: string[] = [];
  let at = body.lastIndexOf(resultId);
  while (at > 0 && ids.length < maxIds) {
    // Within a text, quotes are escaped.
    const id = body[at - 1] === backslash ? null : idAfter(body, at + resultId.length);
    if (id !== null) ids.push(id);
    at = body.lastIndexOf(resultId, at - 1);
  }
  return ids;
}

function idAfter(body: Buffer, at: number): string | null {
  const start = body.indexOf(quote, at) + 1;
  const end = start === 0 ? -1 : body.indexOf(quote, start);
  return end === -1 || end - start > longestId ? null : body.toString('utf8', start, end);
}
