/**
 * The rows of the configuration, one per revision. A row holds either the whole configuration or the changes since the
 * previous revision. With very many keys and groups, only changes can be written and followed within a second.
 */
import { applyPatch, type ConfigPatch } from '../../config/known-entries.ts';
import { memberWithoutDefaults, withoutDefaults } from '../../config/without-defaults.ts';
import type { Config } from '../../contract/config.ts';
import { isObject } from '../../contract/is-object.ts';
import { configVersion } from '../../contract/removed-features.ts';
import { yieldToEventLoop } from '../../ground/promises.ts';
import { number, text } from '../rules/columns.ts';
import { isTemporary } from './failures.ts';
import { channel } from './notices.ts';
import type { Postgres } from './postgres.ts';
import { withTimeout } from './within.ts';

/** The stored form of a revision. */
export type StoredRevision = { config: Config } | { patch: ConfigPatch };

/**
 * The version with which a configuration is stored: the oldest whose programs can read it. Version 2 only has fewer fields, all of
 * which may be absent in version 1. So replicas of version 1 still follow changes during an update, such as a revoked key.
 */
const storedVersion = 1;
/** The revision before the first commit, when the table is still empty. */
export const firstRevision = 1;
/** Older revisions are deleted, unless a later one is stored as changes to them. */
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

/** All methods reject with PostgreSQL's error. */
export class ConfigRows {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  /** Resolves with false if the revision is not the next one. */
  async insert(revision: number, storedRevision: StoredRevision): Promise<boolean> {
    const [config, patch] = bodiesOf(storedRevision);
    let isMade = false;
    try {
      // Outside a transaction, a stalled server could execute the statement later, after the commit was refused.
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

  /** Whether the revision is stored with this body. */
  async #holds(revision: number, body: string | null): Promise<boolean> {
    return (await withTimeout(this.#postgres.ask(oursSql, revision, body))).count > 0;
  }

  /** The newest revision, not validated yet. null if nothing is stored. */
  async newest(): Promise<{ revision: number; value: unknown } | null> {
    const { rows } = await this.#postgres.ask(wholeSql);
    const [base, ...patches] = rows;
    if (!base) return null;
    let value: unknown = JSON.parse(text(base.config) ?? 'null');
    for (const row of patches) {
      const patch: unknown = JSON.parse(text(row.patch) ?? 'null');
      value = isObject(value) ? applyPatch(value, patch) : null;
    }
    return { revision: number((patches.at(-1) ?? base).revision) ?? 0, value };
  }

  /**
   * The changes of later revisions, in order. null if they cannot be applied one by one because a revision is stored
   * whole or is missing. Rejects soon if the server does not answer, because other changes are queued behind this one.
   */
  async changesSince(revision: number): Promise<unknown[] | null> {
    const { rows } = await withTimeout(this.#postgres.ask(laterSql, revision));
    const isGapless = rows.every((row, index) => number(row.revision) === revision + 1 + index && row.patch !== null);
    return isGapless ? rows.map((row) => asRead(JSON.parse(text(row.patch) ?? 'null'))) : null;
  }

  /** Also stores a revision in full, so that a start need not read all changes since the first one. */
  async keepWhole(revision: number, config: Config): Promise<void> {
    await this.#postgres.ask(keepWholeSql, revision, await writtenInSlices(config));
  }
}

function bodiesOf(storedRevision: StoredRevision): [config: string | null, patch: string | null] {
  return 'config' in storedRevision
    ? [JSON.stringify(asStored(withoutDefaults(storedRevision.config))), null]
    : [null, JSON.stringify(asStored(withoutDefaults(storedRevision.patch)))];
}

function asStored<Body extends object>(body: Body): Body {
  return { ...body, version: storedVersion };
}

/** Changes by a replica that runs version 1 are taken as well, unless an entry has a field that version 2 has not. */
function asRead(patch: unknown): unknown {
  return isObject(patch) && patch.version === storedVersion ? { ...patch, version: configVersion } : patch;
}

/** Whether changes to these stored entries can be stored by this version. */
export function isOfThisVersion(value: unknown): boolean {
  return isObject(value) && value.version === storedVersion;
}

/** Serializes to JSON in slices, so that requests can run in between. */
async function writtenInSlices(config: Config): Promise<string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(asStored(config))) {
    const serialized = Array.isArray(value)
      ? await listInSlices(name, value)
      : JSON.stringify(memberWithoutDefaults(name, value));
    members.push(`${JSON.stringify(name)}:${serialized}`);
  }
  return `{${members.join()}}`;
}

async function listInSlices(name: string, list: readonly unknown[]): Promise<string> {
  const slices: string[] = [];
  for (let at = 0; at < list.length; at += entriesPerSlice) {
    const slice = memberWithoutDefaults(name, list.slice(at, at + entriesPerSlice));
    slices.push(JSON.stringify(slice).slice(1, -1));
    await yieldToEventLoop();
  }
  return `[${slices.join()}]`;
}
