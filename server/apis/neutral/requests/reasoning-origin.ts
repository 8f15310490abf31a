/**
 * By what the origin of the newest sealed reasoning of a conversation is found without parsing the request. Only that
 * origin can read it, so the conversation should be sent there again.
 */

import type { ClientApi } from '../client-api.ts';
import type { Origin, Seal } from '../conversation.ts';
import { isUnbound } from './carried-reasoning.ts';

/** Null for what any provider can read. */
export function bindingOrigin(seal: Seal | undefined): Origin | null {
  return seal?.origin && !isUnbound(seal) ? seal.origin : null;
}

type CallNotation = Pick<ClientApi, 'callMark' | 'resultId'>;

/** Of the newest calls alone: where earlier ones were made says nothing of where the conversation is now. */
export function newestCallResultIds(body: Buffer, { callMark, resultId }: CallNotation): string[] {
  return newestResultIds(body.subarray(Math.max(0, body.lastIndexOf(`"${callMark}"`))), resultId);
}

const quote = 0x22;
/** More parallel calls than models make. */
const maxResults = 64;
const longestId = 256;
const backslash = 0x5c;

/**
 * The ids of a conversation's newest tool results, newest first, if they are written without escapes.
 * @param name the member in which the client's API has them
 */
export function newestResultIds(body: Buffer, name: string, maxIds = maxResults): string[] {
  const resultId = Buffer.from(`"${name}"`);
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
