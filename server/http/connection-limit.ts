import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';

/** The share of file descriptors for clients; the rest is for files and connections to providers. */
const shareForClients = 0.75;
const makeRoomEveryMs = 1_000;

/**
 * Limits client connections, so that enough file descriptors are left. Beyond the limit, a new connection is closed at once,
 * and idle connections are closed to make room.
 */
export function limitConnections(server: Server): void {
  const maxConnections = connectionsWithin(readLimits());
  if (maxConnections === undefined) return;
  server.maxConnections = maxConnections;
  let lastMs = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() - lastMs < makeRoomEveryMs) return;
    lastMs = performance.now();
    server.closeIdleConnections();
  });
}

/** The limit computed from the text of /proc/self/limits; undefined if that has no limit on descriptors. */
export function connectionsWithin(limits: string): number | undefined {
  const [, descriptors] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return descriptors === undefined ? undefined : Math.max(1, Math.floor(Number(descriptors) * shareForClients));
}

/** Linux only; on other systems Node raises the limit sufficiently. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
