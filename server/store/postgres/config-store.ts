/**
 * The configuration that replicas share: a row for each revision, of which the newest is in force. A commit is one statement on
 * the expected revision, so that of two at the same time one is refused. Others' commits are followed within a second.
 */
import { checkConfig, summarizeProblems } from '../../config/check-config.ts';
import { type ConfigRevision, type ConfigStore, type NextConfig, revisionPassed } from '../../config/config-store.ts';
import { deepFreeze } from '../../config/deep-freeze.ts';
import { firstRunConfig } from '../../config/first-run.ts';
import { tellListeners, validateChange } from '../../config/revisions.ts';
import type { Config } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import { number, text } from '../../database/columns.ts';
import { messageOf } from '../../database/failures.ts';
import { createSerialQueue } from '../../serial-queue.ts';
import { isTemporary, isUniqueViolation } from './failures.ts';
import { channel, type Notices } from './notices.ts';
import type { Postgres } from './postgres.ts';

interface Options {
  postgres: Postgres;
  notices: Notices;
  log: { warn(fields: object, message: string): void };
}

/** Before the first commit; the table is empty then. */
const firstRevision = 1;
/** Older ones are deleted. */
const keptRevisions = 1_000;
/** A change that names no revision is made again on each one that came between. */
const mostAttempts = 10;

const insertSql = `WITH made AS (
    INSERT INTO config_revisions (revision, config, made_at)
    SELECT $1::bigint, $2::json, $3::double precision WHERE (SELECT coalesce(max(revision), ${firstRevision}) FROM config_revisions) = $1::bigint - 1
    RETURNING revision
  ), told AS (SELECT pg_notify('${channel}', 'config') FROM made)
  SELECT revision FROM made, told`;
const newestSql = 'SELECT revision, config FROM config_revisions WHERE revision > $1 ORDER BY revision DESC LIMIT 1';

/**
 * Rejects with a GatewayError if the newest revision cannot be used by this version, and with PostgreSQL's error if it cannot be
 * read.
 */
export async function openPostgresConfig(options: Options): Promise<ConfigStore> {
  const store = new PostgresConfigStore(options);
  await store.open();
  return store;
}

class PostgresConfigStore implements ConfigStore {
  readonly readOnly = false;
  readonly notices: readonly string[] = [];
  readonly replaced = null;
  readonly #options: Options;
  readonly #inTurn = createSerialQueue();
  readonly #listeners = new Set<(revision: ConfigRevision) => void>();
  #current: ConfigRevision = { config: deepFreeze(firstRunConfig()), revision: firstRevision };
  #isFirstRun = true;
  /** A later revision that this version cannot use. */
  #unusable = 0;

  constructor(options: Options) {
    this.#options = options;
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
    this.#options.notices.on('config', () => void this.#inTurn(() => this.#followQuietly()));
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
      const { config: before, revision } = this.#current;
      if (expectedRevision !== undefined && expectedRevision !== revision) throw revisionPassed();
      const config = validateChange(typeof change === 'function' ? change(before) : change);
      if (await this.#insert(config, revision + 1)) return this.#put(config, revision + 1);
      // Another replica was first.
      await this.#follow(() => {
        throw revisionPassed();
      });
    }
    throw revisionPassed();
  }

  /** False if the revision is not the next one. */
  async #insert(config: Config, revision: number): Promise<boolean> {
    const { postgres } = this.#options;
    const written = JSON.stringify(config);
    try {
      // A server that stands still would carry out a statement by itself later, though it was refused by then.
      const { count } = await postgres.transaction((queries) => queries.ask(insertSql, revision, written, Date.now()));
      if (count > 0 && revision % keptRevisions === 0) {
        await postgres.ask('DELETE FROM config_revisions WHERE revision <= $1', revision - keptRevisions);
      }
      return count > 0;
    } catch (error) {
      if (isUniqueViolation(error)) return false;
      // The connection may have broken after the commit.
      if (isTemporary(error) && (await this.#holds(written, revision))) return true;
      throw isTemporary(error) ? unreachable(error) : error;
    }
  }

  async #holds(written: string, revision: number): Promise<boolean> {
    try {
      const { rows } = await this.#options.postgres.ask(
        'SELECT config FROM config_revisions WHERE revision = $1',
        revision,
      );
      return text(rows[0]?.config) === written;
    } catch {
      return false;
    }
  }

  /** Puts the newest revision in force. `refused` is called for one that this version cannot use. */
  async #follow(refused: (problem: string) => void): Promise<void> {
    const { rows } = await this.#options.postgres.ask(newestSql, this.#current.revision);
    const [row] = rows;
    if (!row) return;
    const revision = number(row.revision) ?? 0;
    const checked = checkConfig(JSON.parse(text(row.config) ?? 'null'));
    if (checked.kind === 'good') this.#put(checked.config, revision);
    else if (revision !== this.#unusable) {
      refused(checked.kind === 'too-new' ? checked.message : summarizeProblems(checked.problems));
      this.#unusable = revision;
    }
  }

  async #followQuietly(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#follow((problem) =>
        log.warn({ problem }, 'the new configuration cannot be used; the one before it stays in force'),
      );
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the configuration cannot be read; it stays as it is');
    }
  }

  #put(config: Config, revision: number): ConfigRevision {
    this.#current = { config: deepFreeze(config), revision };
    tellListeners(this.#listeners, this.#current);
    return this.#current;
  }
}

function unreachable(error: unknown): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    `The configuration cannot be changed now, since the database cannot be written (${messageOf(error)}). It stays as it is. Try again in a moment.`,
    { cause: error },
  );
}
