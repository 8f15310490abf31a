import { unwatchFile, watchFile } from 'node:fs';

/**
 * Editors and deployments often write a file in two steps; a shorter interval would more often read half-written files.
 */
const intervalMs = 1_000;

/**
 * Calls `changed` within about a second of a change of the file, even if it is replaced by another or reached through
 * symbolic links, as in a mounted Kubernetes ConfigMap. Polls its time and size instead of using the system's
 * notifications, which neither network file systems nor containers' mounts deliver reliably. Returns the function that
 * stops polling.
 */
export function followFile(path: string, changed: () => void): () => void {
  const listener = () => changed();
  watchFile(path, { interval: intervalMs, persistent: false }, listener);
  return () => unwatchFile(path, listener);
}

/** Follows a set of files that may change, such as those that hold secrets. */
export class FollowedFiles {
  readonly #changed: () => void;
  readonly #followed = new Map<string, () => void>();

  /** `changed` is called as by `followFile`, whichever file it is. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Replaces the set. */
  follow(paths: Iterable<string>): void {
    const wanted = new Set(paths);
    for (const [path, stop] of this.#followed) {
      if (wanted.has(path)) continue;
      stop();
      this.#followed.delete(path);
    }
    for (const path of wanted) {
      if (!this.#followed.has(path)) this.#followed.set(path, followFile(path, this.#changed));
    }
  }

  close(): void {
    this.follow([]);
  }
}
