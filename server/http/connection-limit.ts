import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';

/** The rest is for files, and for the connections to providers that requests need. */
const shareForClients = 0.75;
const makeRoomEveryMs = 1_000;

/**
 * Takes so many connections of clients that enough file descriptors are left for everything else. One too many is closed
 * at once, and connections that wait for their next request are closed so that the next client finds a place.
 */
export function limitConnections(server: Server): void {
  const most = connectionsWithin(readLimits());
  if (most === undefined) return;
  server.maxConnections = most;
  let lastMs = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() - lastMs < makeRoomEveryMs) return;
    lastMs = performance.now();
    server.closeIdleConnections();
  });
}

/** Of a text such as /proc/self/limits; undefined if it does not tell how many descriptors there are. */
export function connectionsWithin(limits: string): number | undefined {
  const [, descriptors] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return descriptors === undefined ? undefined : Math.max(1, Math.floor(Number(descriptors) * shareForClients));
}

/** Only Linux tells it in a file; elsewhere Node has raised it to far more than clients take. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
