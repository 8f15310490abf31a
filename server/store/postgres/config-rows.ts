/**
 * The rows of the configuration, one for each revision: the whole of it, or what it changes of the revision before. Of very many
 * keys and groups, changes alone can be written and followed within a second.
 */
import { applyPatch, type ConfigPatch } from '../../config/config-patch.ts';
import { memberWithoutDefaults, withoutDefaults } from '../../config/without-defaults.ts';
import type { Config } from '../../contract/config.ts';
import { isObject } from '../../contract/is-object.ts';
import { number, text } from '../../database/columns.ts';
import { nextTurn } from '../../loop-turns.ts';
import { isTemporary } from './failures.ts';
import { channel } from './notices.ts';
import type { Postgres } from './postgres.ts';
import { withTimeout } from './within.ts';

/** What is stored of a revision. */
export type StoredRevision = { config: Config } | { patch: ConfigPatch };

/** Before the first commit; the table is empty then. */
export const firstRevision = 1;
/** Older ones are deleted, unless a later one is a change of them. */
const keptRevisions = 1_000;
const entriesPerSlice = 1_000;

const insertSql = `WITH made AS (
    INSERT INTO config_revisions (revision, config, patch, made_at)
    SELECT $1::bigint, $2::json, $3::json, $4::double precision
    WHERE (SELECT coalesce(max(revision), ${firstRevision}) FROM config_revisions) = $1::bigint - 1
    RETURNING revision
  ), told AS (SELECT pg_notify('${channel}', 'config') FROM made)
  SELECT revision FROM made, told`;
const oursSql = 'SELECT 1 FROM config_revisions WHERE revision = $1 AND coalesce(patch, config)::text = $2';
const laterSql = 'SELECT revision, patch FROM config_revisions WHERE revision > $1 ORDER BY revision';
const wholeSql = `SELECT revision, CASE WHEN revision = base THEN config END AS config, patch
  FROM config_revisions, (SELECT max(revision) AS base FROM config_revisions WHERE config IS NOT NULL) AS newest
  WHERE revision >= base ORDER BY revision`;
const keepWholeSql = 'UPDATE config_revisions SET config = $2 WHERE revision = $1';
const dropSql = `DELETE FROM config_revisions WHERE revision <= $1
  AND revision < (SELECT max(revision) FROM config_revisions WHERE config IS NOT NULL)`;

/** All of it rejects with PostgreSQL's error. */
export class ConfigRows {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  /** False if the revision is not the next one. */
  async insert(revision: number, stored: StoredRevision): Promise<boolean> {
    const [config, patch] = bodiesOf(stored);
    let isMade = false;
    try {
      // A server that stands still would carry out a statement by itself later, though it was refused by then.
      await this.#postgres.transactionSoon(async (queries) => {
        isMade = (await queries.ask(insertSql, revision, config, patch, Date.now())).count > 0;
      });
    } catch (error) {
      // The connection may have broken after the commit.
      const mayBeStored = isMade && isTemporary(error);
      const isStored = mayBeStored && (await this.#holds(revision, patch ?? config).catch(() => false));
      if (!isStored) throw error;
    }
    if (isMade && revision % keptRevisions === 0) await this.#postgres.ask(dropSql, revision - keptRevisions);
    return isMade;
  }

  /** Whether this is what the revision was made with. */
  async #holds(revision: number, body: string | null): Promise<boolean> {
    return (await withTimeout(this.#postgres.ask(oursSql, revision, body))).count > 0;
  }

  /** The newest one, not checked yet. Null: nothing is stored. */
  async newest(): Promise<{ revision: number; value: unknown } | null> {
    const { rows } = await this.#postgres.ask(wholeSql);
    const [base, ...later] = rows;
    if (!base) return null;
    let value: unknown = JSON.parse(text(base.config) ?? 'null');
    for (const row of later) {
      const patch: unknown = JSON.parse(text(row.patch) ?? 'null');
      value = isObject(value) ? applyPatch(value, patch) : null;
    }
    return { revision: number((later.at(-1) ?? base).revision) ?? 0, value };
  }

  /**
   * What later revisions change, in order; null: they cannot be followed one by one, since one is whole or is gone. Rejects soon if
   * the server does not answer, since changes wait for their turn behind it.
   */
  async changesSince(revision: number): Promise<unknown[] | null> {
    const { rows } = await withTimeout(this.#postgres.ask(laterSql, revision));
    const isGapless = rows.every((row, index) => number(row.revision) === revision + 1 + index && row.patch !== null);
    return isGapless ? rows.map((row) => JSON.parse(text(row.patch) ?? 'null')) : null;
  }

  /** Stores a revision as a whole beside what it changes, so that a start need not read all changes since the first. */
  async keepWhole(revision: number, config: Config): Promise<void> {
    await this.#postgres.ask(keepWholeSql, revision, await writtenInSlices(config));
  }
}

function bodiesOf(stored: StoredRevision): [config: string | null, patch: string | null] {
  return 'config' in stored
    ? [JSON.stringify(withoutDefaults(stored.config)), null]
    : [null, JSON.stringify(withoutDefaults(stored.patch))];
}

/** As JSON, without holding up requests. */
async function writtenInSlices(config: Config): Promise<string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(config)) {
    const written = Array.isArray(value)
      ? await listInSlices(name, value)
      : JSON.stringify(memberWithoutDefaults(name, value));
    members.push(`${JSON.stringify(name)}:${written}`);
  }
  return `{${members.join()}}`;
}

async function listInSlices(name: string, list: readonly unknown[]): Promise<string> {
  const slices: string[] = [];
  for (let at = 0; at < list.length; at += entriesPerSlice) {
    const slice = memberWithoutDefaults(name, list.slice(at, at + entriesPerSlice));
    slices.push(JSON.stringify(slice).slice(1, -1));
    await nextTurn();
  }
  return `[${slices.join()}]`;
}
