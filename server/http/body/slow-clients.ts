/** Disconnects clients that send a body at less than 1 kB/s for half a minute. One timer checks all running uploads. */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../contract/errors.ts';
import { Slots } from '../../ground/collections.ts';
import { every } from '../../ground/timers.ts';

interface Upload {
  request: IncomingMessage;
  bytes: number;
  /** Number of consecutive checks that found it slow. */
  slowChecks: number;
  /** Index in `uploads`; null once it is no longer watched. */
  slot: number | null;
}

const checkEveryMs = 10_000;
const minBytes = 10 * 1024;
const slowChecksAllowed = 3;

const uploads = new Slots<Upload>();
let timer: NodeJS.Timeout | undefined;

/**
 * Fails a request with `request_timeout` if its body arrives too slowly, and disconnects a client that goes on so. Must be
 * called before the body is read.
 */
export function watchUpload(request: IncomingMessage): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  if (length === '0' && coding === undefined) return;
  const upload: Upload = { request, bytes: request.socket.bytesRead, slowChecks: 0, slot: null };
  upload.slot = uploads.add(upload);
  timer ??= every(checkAll, checkEveryMs).unref();
  request.on('close', () => forget(upload));
}

function forget(upload: Upload): void {
  if (upload.slot !== null) uploads.delete(upload.slot);
  upload.slot = null;
}

function checkAll(): void {
  uploads.forEach(check);
  if (uploads.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function check(upload: Upload): void {
  const { request, bytes } = upload;
  upload.bytes = request.socket.bytesRead;
  // Not counted while Sluice itself does not read, for example while it waits for memory or the disk.
  const isSlow = upload.bytes - bytes < minBytes && request.readableFlowing === true;
  upload.slowChecks = isSlow ? upload.slowChecks + 1 : 0;
  if (upload.slowChecks > slowChecksAllowed) request.destroy();
  // Nobody listens if the body is only discarded.
  else if (upload.slowChecks === slowChecksAllowed && request.listenerCount('error') > 0)
    request.emit('error', tooSlow());
}

function tooSlow(): GatewayError {
  return new GatewayError(
    'request_timeout',
    `The request's body came at less than ${minBytes / 10} bytes a second for ${(slowChecksAllowed * checkEveryMs) / 1_000} seconds.`,
  );
}
