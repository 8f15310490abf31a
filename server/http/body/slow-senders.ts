/** Disconnects clients that send a body at less than 1 kB/s for half a minute. One timer checks all running uploads. */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../contract/errors.ts';
import { Slots } from '../../slots.ts';

interface Sender {
  request: IncomingMessage;
  bytes: number;
  /** Consecutive checks that found it slow. */
  slow: number;
  /** Among `senders`; null: no longer watched. */
  place: number | null;
}

const lookEveryMs = 10_000;
const leastBytes = 10 * 1024;
const patience = 3;

const senders = new Slots<Sender>();
let timer: NodeJS.Timeout | undefined;

/** Watches a request's body; one that is too slow fails with `request_timeout`. Returns how to stop. */
export function watchSender(request: IncomingMessage): () => void {
  const sender: Sender = { request, bytes: request.socket.bytesRead, slow: 0, place: null };
  sender.place = senders.add(sender);
  timer ??= setInterval(look, lookEveryMs).unref();
  return () => forget(sender);
}

function forget(sender: Sender): void {
  if (sender.place !== null) senders.delete(sender.place);
  sender.place = null;
}

function look(): void {
  senders.forEach(lookAt);
  if (!senders.isEmpty) return;
  clearInterval(timer);
  timer = undefined;
}

function lookAt(sender: Sender): void {
  const { request, bytes } = sender;
  sender.bytes = request.socket.bytesRead;
  // Ignored while Sluice itself does not read, such as waiting for memory or the disk.
  const isSlow = sender.bytes - bytes < leastBytes && request.readableFlowing === true;
  sender.slow = isSlow ? sender.slow + 1 : 0;
  if (sender.slow < patience) return;
  forget(sender);
  request.emit('error', tooSlow());
}

function tooSlow(): GatewayError {
  return new GatewayError(
    'request_timeout',
    `The request's body came at less than ${leastBytes / 10} bytes a second for ${(patience * lookEveryMs) / 1_000} seconds.`,
  );
}
