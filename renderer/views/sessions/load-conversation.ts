/**
 * Puts the conversation of a whole session together from as few captures as hold it. Most clients send all of it with each request,
 * so that the newest one is enough, and for what it was compacted from the last one before; those that name the response they
 * continue send only what is new.
 */

import { contentOf, jsonValueOf } from '../../../server/contract/conversation/body-content.ts';
import {
  objectOf,
  readConversation,
  type ShownConversation,
  type ShownMessage,
} from '../../../server/contract/conversation/read-conversation.ts';
import type { RequestInFull } from '../../../server/contract/request-views.ts';
import type { SessionRequest } from '../../../server/contract/session-views.ts';

/** Captures that are loaded. A session of more begins with a later message. */
const mostLoaded = 40;

export interface WholeConversation {
  conversation: ShownConversation;
  /** False if something before it is not kept, or was too much. */
  isWhole: boolean;
}

/** Null if nothing of it is kept. Rejects as `load` does. */
export async function loadConversation(
  requests: readonly SessionRequest[],
  load: (id: string) => Promise<RequestInFull>,
): Promise<WholeConversation | null> {
  const main = requests.filter(({ thread, outcome }) => thread === 0 && outcome !== null);
  let conversation: ShownConversation | null = null;
  let at = main.length - 1;
  for (let loaded = 0; at >= 0 && loaded < mostLoaded; ) {
    const request = main[at];
    if (!request?.isCaptured) {
      at -= 1;
      continue;
    }
    loaded += 1;
    const part = readPart(await load(request.id));
    if (part) conversation = joined(part.conversation, conversation);
    at = part?.isWhole ? main.findLastIndex(({ isShorter }, index) => index <= at && isShorter) - 1 : at - 1;
  }
  return conversation && { conversation, isWhole: at < 0 };
}

/** `isWhole`: it holds what was said before, too. */
function readPart({ capture }: RequestInFull): WholeConversation | null {
  const body = capture && jsonValueOf(contentOf(capture.request));
  const conversation = capture && readConversation(body, jsonValueOf(contentOf(capture.response)));
  return conversation && { conversation, isWhole: typeof objectOf(body).previous_response_id !== 'string' };
}

function joined(earlier: ShownConversation, later: ShownConversation | null): ShownConversation {
  if (!later) return earlier;
  const told = new Set(earlier.messages.filter(isSystem).map(textOf));
  return {
    messages: [
      ...earlier.messages.map((message) => ({ ...message, isAnswer: false })),
      ...later.messages.filter((message) => !isSystem(message) || !told.has(textOf(message))),
    ],
    tools: later.tools,
  };
}

const isSystem = ({ role }: ShownMessage) => role === 'system';
const textOf = ({ parts }: ShownMessage) => JSON.stringify(parts);
