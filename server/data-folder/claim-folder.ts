import { type DataFolder, prepareDataFolder } from './data-folder.ts';
import {
  acquireInstanceLock,
  type InstanceAddress,
  type InstanceInfo,
  type InstanceLock,
  UnwritableFolder,
} from './instance-lock.ts';

/** A data folder that is this process's until the lock is released. */
export interface ClaimedFolder {
  folder: DataFolder;
  lock: InstanceLock;
}

/**
 * Makes the folder ready and takes it, or answers who has it. One that is there but cannot be written now is served from
 * as it is, and taken as soon as it can be. Rejects with a GatewayError if it cannot be used.
 */
export async function claimFolder(dataDir: string): Promise<ClaimedFolder | { holder: InstanceInfo }> {
  const folder = prepareDataFolder(dataDir);
  try {
    const lock = await acquireInstanceLock(folder.path);
    return 'holder' in lock ? lock : { folder, lock: new PatientLock(folder.path, lock) };
  } catch (error) {
    if (!(error instanceof UnwritableFolder)) throw error;
    const problem = folder.problem ?? error.reason;
    return { folder: { ...folder, problem }, lock: new PatientLock(folder.path, null) };
  }
}

const retryMs = 10_000;

/**
 * A lock whose file may not be writable for a while. Until it is there, nothing but the port keeps another Sluice away, and
 * that one would find a folder it cannot write either.
 */
class PatientLock implements InstanceLock {
  readonly #dataDir: string;
  #held: InstanceLock | null;
  #address: InstanceAddress | undefined;
  #retries: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(dataDir: string, held: InstanceLock | null) {
    this.#dataDir = dataDir;
    this.#held = held;
    if (!held) this.#retry();
  }

  async update(address: InstanceAddress): Promise<void> {
    this.#address = address;
    await this.#settle();
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    clearInterval(this.#retries);
    await this.#held?.release();
  }

  #retry(): void {
    this.#retries ??= setInterval(() => void this.#settle(), retryMs).unref();
  }

  async #settle(): Promise<void> {
    try {
      this.#held ??= await this.#acquired();
      if (this.#isReleased) await this.#held?.release();
      else if (this.#held && this.#address) await this.#held.update(this.#address);
      if (this.#held) clearInterval(this.#retries);
    } catch {
      // Said at the start, and by the ledger as long as it lasts.
      if (!this.#isReleased) this.#retry();
    }
  }

  /** Null where another Sluice has come first. */
  async #acquired(): Promise<InstanceLock | null> {
    const lock = await acquireInstanceLock(this.#dataDir);
    return 'holder' in lock ? null : lock;
  }
}
