/** How many requests and connections the process has descriptors for. */
import type { Server } from 'node:http';

/** For everything else: files, databases, the listener, and connections that are being refused. */
const reservedDescriptors = 64;
/** A connection to the client and one to the provider. */
const descriptorsPerRequest = 2;
/** Also for idle connections, which make room for others. */
const shareForClients = 0.75;
const makeRoomEveryMs = 1_000;

/** The requests and realtime sessions that may run at the same time. @param descriptors null: any number */
export function runningWithin(descriptors: number | null): number {
  if (descriptors === null) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor((descriptors - reservedDescriptors) / descriptorsPerRequest));
}

/**
 * Limits client connections, so that enough file descriptors are left. Beyond the limit, a new connection is closed at once,
 * and idle connections are closed to make room.
 */
export function limitConnections(server: Server, descriptors: number | null): void {
  if (descriptors === null) return;
  server.maxConnections = connectionsWithin(descriptors);
  let lastMs = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() - lastMs < makeRoomEveryMs) return;
    lastMs = performance.now();
    server.closeIdleConnections();
  });
}

export function connectionsWithin(descriptors: number): number {
  return Math.max(1, Math.floor(descriptors * shareForClients));
}
