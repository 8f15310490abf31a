/**
 * The configuration that replicas share. A commit is one statement conditional on the expected revision, so of two
 * concurrent commits one is refused. Commits of other replicas are followed within a second.
 */
import { checkConfig, summarizeProblems } from '../../config/check-config.ts';
import { type ConfigRevision, type ConfigStore, type NextConfig, revisionPassed } from '../../config/config-store.ts';
import { applyPatch, type ConfigLists, entriesIn, parseReusing, patchBetween } from '../../config/known-entries.ts';
import { deepFreeze, firstRunConfig, notifyListeners, validateChange } from '../../config/revisions.ts';
import type { Config } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import { describeRemovedFields } from '../../contract/removed-features.ts';
import { createSerialQueue } from '../../ground/promises.ts';
import { messageOf } from '../rules/failures.ts';
import { ConfigRows, firstRevision, isOfThisVersion, type StoredRevision } from './config-rows.ts';
import { isTemporary, isUniqueViolation } from './failures.ts';
import type { Notices } from './notices.ts';
import type { Postgres } from './postgres.ts';

interface Options {
  postgres: Postgres;
  notices: Notices;
  log: { warn(fields: object, message: string): void };
}

/** A change that names no revision is tried again on each revision committed in between. */
const mostAttempts = 10;
/** With more entries than this, a revision is stored as changes only, as long as they are few. */
const entriesStoredWhole = 500;
const smallShare = 0.25;
/** Every this many revisions, one is also stored in full. */
const wholeEvery = 200;

/**
 * Rejects with a GatewayError if this version cannot use the newest revision, and with PostgreSQL's error if it cannot
 * be read.
 */
export async function openPostgresConfig(options: Options): Promise<ConfigStore> {
  const store = new PostgresConfigStore(options);
  await store.open();
  return store;
}

class PostgresConfigStore implements ConfigStore {
  readonly readOnly = false;
  readonly notices: readonly string[] = [];
  readonly removed: string[] = [];
  readonly replaced = null;
  readonly #options: Options;
  readonly #rows: ConfigRows;
  readonly #inTurn = createSerialQueue();
  readonly #listeners = new Set<(revision: ConfigRevision) => void>();
  #current: ConfigRevision = { config: deepFreeze(firstRunConfig()), revision: firstRevision };
  #isFirstRun = true;
  /** A later revision that this version cannot use. */
  #unusable = 0;
  /** Whether the stored entries have this version's format, so that changes to them can be stored. */
  #isOfThisVersion = false;
  /** From then on, `removed` is not announced by whoever has opened the store. */
  #isOpen = false;
  #isFollowing = false;
  #isDueAgain = false;

  constructor(options: Options) {
    this.#options = options;
    this.#rows = new ConfigRows(options.postgres);
  }

  get current(): ConfigRevision {
    return this.#current;
  }

  get isFirstRun(): boolean {
    return this.#isFirstRun;
  }

  async open(): Promise<void> {
    await this.#follow((problem) => {
      throw new GatewayError(
        'internal',
        `The configuration in the database cannot be used: ${problem}. It was left as it is. Update Sluice.`,
      );
    });
    this.#isFirstRun = this.#current.revision === firstRevision;
    this.#isOpen = true;
    this.#options.notices.on('config', () => void this.#followInTurn());
  }

  commit(change: NextConfig, expectedRevision?: number): Promise<ConfigRevision> {
    return this.#inTurn(() => this.#commit(change, expectedRevision));
  }

  onChange(listener: (revision: ConfigRevision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #commit(change: NextConfig, expectedRevision: number | undefined): Promise<ConfigRevision> {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const { config: current, revision } = this.#current;
      if (expectedRevision !== undefined && expectedRevision !== revision) throw revisionPassed();
      const config = validateChange(typeof change === 'function' ? change(current) : change, current);
      if (await this.#insert(this.#storedRevision(config), revision + 1)) return this.#committed(config, revision + 1);
      // Another replica committed first.
      await this.#follow(() => {
        throw revisionPassed();
      });
    }
    throw revisionPassed();
  }

  /** In full, or as the difference from the current configuration. */
  #storedRevision(config: Config): StoredRevision {
    const { providers, aliases, groups, keys } = config;
    const entries = providers.length + aliases.length + groups.length + keys.length;
    if (entries <= entriesStoredWhole || !this.#isOfThisVersion) return { config };
    const patch = patchBetween(this.#current.config, config);
    return entriesIn(patch) <= entries * smallShare ? { patch } : { config };
  }

  /** Resolves with false if the revision is not the next one. */
  async #insert(storedRevision: StoredRevision, revision: number): Promise<boolean> {
    try {
      return await this.#rows.insert(revision, storedRevision);
    } catch (error) {
      if (isUniqueViolation(error)) return false;
      throw isTemporary(error) ? unreachable(error) : error;
    }
  }

  #committed(config: Config, revision: number): ConfigRevision {
    if (revision % wholeEvery === 0) void this.#keepWhole(config, revision);
    this.#isOfThisVersion = true;
    return this.#put(config, revision);
  }

  async #keepWhole(config: Config, revision: number): Promise<void> {
    try {
      await this.#rows.keepWhole(revision, config);
    } catch (error) {
      this.#options.log.warn(
        { error: messageOf(error) },
        'the whole configuration could not be stored; its changes are',
      );
    }
  }

  /** Makes the newest revision current. `onRefused` is called if this version cannot use it. */
  async #follow(onRefused: (problem: string) => void): Promise<void> {
    const { config, revision } = this.#current;
    const changes = await this.#rows.changesSince(revision);
    if (changes?.length === 0) return;
    const next = changes && withChanges(config, changes);
    if (next) this.#put(next, revision + changes.length);
    else await this.#readNewest(onRefused);
  }

  async #readNewest(onRefused: (problem: string) => void): Promise<void> {
    const newest = await this.#rows.newest();
    if (!newest || newest.revision <= this.#current.revision) return;
    const { revision, value } = newest;
    const checked = checkConfig(value);
    if (checked.kind === 'good') {
      this.#isOfThisVersion = isOfThisVersion(value);
      this.#noteRemoved(value);
      this.#put(checked.config, revision);
    } else if (revision !== this.#unusable) {
      onRefused(checked.kind === 'too-new' ? checked.message : summarizeProblems(checked.problems));
      this.#unusable = revision;
    }
  }

  /** Replicas of an earlier version may still store removed fields while they run beside this one. */
  #noteRemoved(value: unknown): void {
    const added = describeRemovedFields(value, 'the database').filter((line) => !this.removed.includes(line));
    this.removed.push(...added);
    if (this.#isOpen) for (const line of added) this.#options.log.warn({}, line);
  }

  /**
   * Runs once for all notices that arrive in the meantime. After a failure it waits for the next notice, which polling
   * provides: while the database hangs, a change must not queue behind several attempts that each time out.
   */
  async #followInTurn(): Promise<void> {
    this.#isDueAgain = true;
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    let isRead = true;
    while (isRead && this.#isDueAgain) {
      isRead = await this.#inTurn(() => {
        this.#isDueAgain = false;
        return this.#followQuietly();
      });
    }
    this.#isFollowing = false;
  }

  /** Resolves with false if it could not be read. */
  async #followQuietly(): Promise<boolean> {
    const { log } = this.#options;
    try {
      await this.#follow((problem) =>
        log.warn({ problem }, 'the new configuration cannot be used; the one before it stays in force'),
      );
      return true;
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the configuration cannot be read; it stays as it is');
      return false;
    }
  }

  #put(config: Config, revision: number): ConfigRevision {
    this.#current = { config: deepFreeze(config), revision };
    notifyListeners(this.#listeners, this.#current);
    return this.#current;
  }
}

/** null if the changes have to be validated with the whole configuration. */
function withChanges(config: Config, changes: readonly unknown[]): Config | null {
  let next: ConfigLists | null = config;
  for (const change of changes) next = next && applyPatch(next, change);
  return next && parseReusing(next, config);
}

function unreachable(error: unknown): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    `The configuration cannot be changed now, since the database cannot be written (${messageOf(error)}). It stays as it is. Try again in a moment.`,
    { cause: error },
  );
}
