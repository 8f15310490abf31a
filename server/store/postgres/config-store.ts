/**
 * The configuration that replicas share. A commit is one statement conditional on the expected revision, so of two
 * concurrent commits one is refused. Commits of other replicas are followed within a second.
 */

import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { checkConfig, summarizeProblems } from '../../config/check-config.ts';
import {
  type ConfigRevision,
  type ConfigStore,
  deepFreeze,
  firstRunConfig,
  type NextConfig,
  notifyListeners,
  revisionPassed,
  validateChange,
} from '../../config/config-store.ts';
import {
  applyPatch,
  type ConfigLists,
  type ConfigPatch,
  entriesIn,
  parseReusing,
  patchBetween,
} from '../../config/known-entries.ts';
import { type Config, groupSchema, keySchema, providerSchema } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { configVersion, describeRemovedFields } from '../../contract/removed-features.ts';
import { settingsSchema } from '../../contract/settings.ts';
import { createSerialQueue, yieldToEventLoop } from '../../ground/promises.ts';
import { number, text } from '../rules/columns.ts';
import { messageOf } from '../rules/failures.ts';
import { channel, type Notices } from './notices.ts';
import { isTemporary, isUniqueViolation, type Postgres, withTimeout } from './postgres.ts';

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

// The rows of the configuration, one per revision. A row holds either the whole configuration or the changes since
// the previous revision. With very many keys and groups, only changes can be written and followed within a second.

/** The stored form of a revision. */
type StoredRevision = { config: Config } | { patch: ConfigPatch };

/**
 * The version with which a configuration is stored: the oldest whose programs can read it. Version 2 only has fewer fields, all of
 * which may be absent in version 1. So replicas of version 1 still follow changes during an update, such as a revoked key.
 */
const storedVersion = 1;
/** The revision before the first commit, when the table is still empty. */
const firstRevision = 1;
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
class ConfigRows {
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
function isOfThisVersion(value: unknown): boolean {
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

// Removes default values from a configuration that other replicas read. The previous version of the program refuses
// members that it does not know, so a new member must not be stored before it is used. Pure.

type Members = Record<string, unknown>;

/** For each list of the configuration: a minimal entry. */
const ofEntries: Readonly<Record<string, Members>> = {
  providers: filledIn(providerSchema, { id: 'any', baseUrl: 'https://any.example' }),
  groups: filledIn(groupSchema, { id: 'any' }),
  keys: filledIn(keySchema, { id: 'any', group: 'any' }),
};
const ofSettings = filledIn(settingsSchema, {});

/** Accepts a configuration or a patch of one. */
export function withoutDefaults(config: object): Members {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, memberWithoutDefaults(name, value)]));
}

/** `name`: the member's name in the configuration. */
export function memberWithoutDefaults(name: string, value: unknown): unknown {
  if (name === 'settings' && isObject(value)) return difference(value, ofSettings);
  const defaults = ofEntries[name];
  if (!defaults) return value;
  const slim = (entries: unknown[]) => entries.map((each) => (isObject(each) ? difference(each, defaults) : each));
  if (Array.isArray(value)) return slim(value);
  return isObject(value) && Array.isArray(value.entries) ? { ...value, entries: slim(value.entries) } : value;
}

function difference(value: Members, defaults: Members): Members {
  const members = Object.entries(value).flatMap(([name, member]) => {
    const defaultValue = defaults[name];
    if (name in defaults && isDeepStrictEqual(member, defaultValue)) return [];
    return [[name, isObject(member) && isObject(defaultValue) ? difference(member, defaultValue) : member] as const];
  });
  return Object.fromEntries(members);
}

function filledIn(schema: z.ZodType<Members>, members: Members): Members {
  return Object.fromEntries(Object.entries(schema.parse(members)).filter(([name]) => !(name in members)));
}
