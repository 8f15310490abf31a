import { every } from '../ground/timers.ts';
import { type DataFolder, prepareDataFolder } from './data-folder.ts';
import { acquireFallbackLock, findFallbackHolder } from './fallback-lock.ts';
import {
  acquireInstanceLock,
  type InstanceAddress,
  type InstanceInfo,
  type InstanceLock,
  UnwritableFolder,
} from './instance-lock.ts';

/** A data folder claimed by this process until the lock is released. */
export interface ClaimedFolder {
  folder: DataFolder;
  lock: InstanceLock;
  /** A private, writable folder to use while the data folder is not writable; null if there is none. */
  fallbackFolder: string | null;
}

/**
 * Prepares and claims the folder, or returns its holder. An existing folder that is not writable at present is used as
 * it is, and claimed once it is writable. Rejects with a GatewayError if it cannot be used.
 */
export async function claimFolder(dataDir: string): Promise<ClaimedFolder | { holder: InstanceInfo }> {
  const folder = prepareDataFolder(dataDir);
  const holder = await findFallbackHolder(folder.path);
  if (holder) return { holder };
  try {
    const lock = await acquireInstanceLock(folder.path);
    return 'holder' in lock
      ? lock
      : { folder, lock: new DeferredLock(folder.path, { lock, fallback: null }), fallbackFolder: null };
  } catch (error) {
    if (!(error instanceof UnwritableFolder)) throw error;
    return claimUnwritable({ ...folder, problem: folder.problem ?? error.reason });
  }
}

async function claimUnwritable(folder: DataFolder): Promise<ClaimedFolder | { holder: InstanceInfo }> {
  const fallback = await acquireFallbackLock(folder.path);
  if (fallback && 'holder' in fallback) return fallback;
  const lock = new DeferredLock(folder.path, { lock: null, fallback });
  return { folder, lock, fallbackFolder: fallback?.folder ?? null };
}

const retryMs = 10_000;

/**
 * A lock whose file may be unwritable for a while. Until it is written, the fallback lock keeps other instances away.
 */
class DeferredLock implements InstanceLock {
  readonly #dataDir: string;
  readonly #fallback: InstanceLock | null;
  #lock: InstanceLock | null;
  #address: InstanceAddress | undefined;
  #retries: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(dataDir: string, { lock, fallback }: { lock: InstanceLock | null; fallback: InstanceLock | null }) {
    this.#dataDir = dataDir;
    this.#fallback = fallback;
    this.#lock = lock;
    if (!lock) this.#retry();
  }

  async update(address: InstanceAddress): Promise<void> {
    this.#address = address;
    await this.#fallback?.update(address);
    await this.#settle();
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    clearInterval(this.#retries);
    await this.#lock?.release();
    await this.#fallback?.release();
  }

  #retry(): void {
    this.#retries ??= every(() => this.#settle(), retryMs).unref();
  }

  async #settle(): Promise<void> {
    try {
      this.#lock ??= await this.#acquired();
      if (this.#isReleased) await this.#lock?.release();
      else if (this.#lock && this.#address) await this.#lock.update(this.#address);
      if (this.#lock) clearInterval(this.#retries);
    } catch {
      // Already reported at the start, and by the ledger's health.
      if (!this.#isReleased) this.#retry();
    }
  }

  /** Null if another Sluice was faster. */
  async #acquired(): Promise<InstanceLock | null> {
    const lock = await acquireInstanceLock(this.#dataDir);
    return 'holder' in lock ? null : lock;
  }
}
