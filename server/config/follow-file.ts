import { unwatchFile, watchFile } from 'node:fs';

/** Editors and deployments often write a file in two steps, so a shorter interval would only see more of them half written. */
const intervalMs = 1_000;

/**
 * Calls `changed` within about a second of a change of the file, also where it is replaced by another or reached through
 * symbolic links, as in a mounted Kubernetes ConfigMap. Looks at its time and size rather than waiting for the system's
 * notification, which neither network file systems nor containers' mounts deliver reliably. Returns how to stop.
 */
export function followFile(path: string, changed: () => void): () => void {
  const look = () => changed();
  watchFile(path, { interval: intervalMs, persistent: false }, look);
  return () => unwatchFile(path, look);
}
