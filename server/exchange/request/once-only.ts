import type { IncomingMessage } from 'node:http';
import { isPurchase } from '../../apis/core/route.ts';
import type { OutgoingCall } from './outgoing-call.ts';

/** What a request must not do twice. A second deletion would say that the object was never there. */
export type OnceOnly = 'purchase' | 'deletion';

/** Null: the request may be repeated. */
export function onceOf({ method }: IncomingMessage, { match, body }: OutgoingCall): OnceOnly | null {
  if (isPurchase(match.route, body)) return 'purchase';
  return method === 'DELETE' ? 'deletion' : null;
}
