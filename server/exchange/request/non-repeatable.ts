import type { IncomingMessage } from 'node:http';
import { isPurchase } from '../../apis/core/route.ts';
import type { OutgoingCall } from './outgoing-call.ts';

/** What a request must not do twice. A second deletion would say that the object was never there. */
export type NonRepeatable = 'purchase' | 'deletion';

/** Null: the request may be repeated. */
export function nonRepeatableKindOf({ method }: IncomingMessage, { match, body }: OutgoingCall): NonRepeatable | null {
  if (isPurchase(match.route, body)) return 'purchase';
  return method === 'DELETE' ? 'deletion' : null;
}
