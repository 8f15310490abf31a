/**
 * The thread that translates what is too large for the one that serves all clients. It knows requests and answers alone: no
 * configuration, no store, no socket.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { GatewayError } from '../../contract/errors.ts';
import { HeapShare } from '../request/outgoing-call.ts';
import type { Order, OrderResult, Refusal } from './thread-orders.ts';
import { TranslationSession } from './translation-session.ts';

const heap = new HeapShare();
const sessions = new Map<number, TranslationSession>();

function sessionOf(number: number): TranslationSession {
  let session = sessions.get(number);
  if (!session) {
    session = new TranslationSession(heap);
    sessions.set(number, session);
  }
  return session;
}

function carryOut(order: Order): unknown {
  const session = sessionOf(order.session);
  switch (order.name) {
    case 'open':
      return session.open(order.asked);
    case 'restore':
      return session.restore(order.asked);
    case 'render':
      return session.render(order.asked);
    case 'whole':
      return session.whole(order.asked);
    case 'stream':
      return session.stream(order.asked);
    case 'replay':
      return session.replay(order.asked);
    case 'push':
      return session.push(order.asked);
    case 'pushWhole':
      return session.pushWhole(order.asked);
    case 'end':
      return session.end(order.asked);
    case 'fail':
      return session.fail(order.asked);
    case 'vectors':
      return session.vectors(order.asked);
    case 'unsealed':
      return session.unsealed(order.asked);
    case 'history':
      return session.history(order.asked);
    case 'referred':
      return session.referred(order.asked);
    case 'items':
      return session.items(order.asked);
    case 'close':
      sessions.delete(order.session);
      return session.close();
  }
}

function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof GatewayError) {
    const { code, message, param, retryAfterSeconds } = thrown;
    return { code, message, param, retryAfterSeconds };
  }
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return { code: null, message, param: null, retryAfterSeconds: null };
}

/** The bytes of a result, which change hands. */
function bytesIn(answered: unknown): ArrayBuffer[] {
  if (typeof answered !== 'object' || answered === null) return [];
  return Object.values(answered).flatMap((member) =>
    member instanceof Uint8Array && member.buffer instanceof ArrayBuffer && member.length > 0 ? [member.buffer] : [],
  );
}

function serve(port: MessagePort): void {
  port.on('message', (order: Order) => {
    const { number } = order;
    try {
      const answered = carryOut(order);
      port.postMessage({ number, answered } satisfies OrderResult, bytesIn(answered));
    } catch (thrown) {
      port.postMessage({ number, refusal: refusalOf(thrown) } satisfies OrderResult);
    }
  });
}

if (parentPort) serve(parentPort);
