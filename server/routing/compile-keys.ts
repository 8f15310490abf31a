/** Compiles keys and the limits of keys, groups and people. Pure. */
import { hash } from 'node:crypto';
import { trimSecret } from '../apis/core/requests/client-credentials.ts';
import type { GroupConfig, KeyConfig } from '../contract/config.ts';
import type { Limits } from '../contract/limit-settings.ts';
import type { CountedScope, Limited } from '../contract/limits.ts';
import { spliceBetween } from '../contract/list-splice.ts';
import { canonicalName, foldName, identify, type ModelIdentity } from '../contract/model-identity.ts';
import type { PeopleSettings } from '../contract/people.ts';
import { keySecretName } from '../secrets/secret-store.ts';
import type { CompiledKey, Snapshot } from './snapshot.ts';

// Compiles the keys of a configuration. Since there may be very many, only those that a change affects are compiled
// again.

interface KeyInput {
  configured: readonly KeyConfig[];
  groups: readonly GroupConfig[];
  /** Secret values by name. */
  secrets: ReadonlyMap<string, string>;
  personLimits: PersonLimits;
}

type KeyTable = Pick<Snapshot, 'keys' | 'notices'>;

/** The input of each compiled table; absent if a secret in it may change without a configuration change. */
const inputs = new WeakMap<Snapshot['keys'], KeyInput>();
/** With more changes than this, all keys are compiled again. */
const fewChanges = 100;

/** `previousTable`: the table of an earlier configuration, whose unchanged entries are reused. */
export function compileKeys(input: KeyInput, previousTable?: KeyTable): KeyTable {
  const updatedTable = previousTable && changedTable(input, previousTable);
  const table = updatedTable ?? wholeTable(input);
  if (updatedTable || input.configured.every(({ hash: ownHash }) => ownHash !== undefined))
    inputs.set(table.keys, input);
  return table;
}

/** If several keys have the same secret, the first one counts. */
function wholeTable({ configured, groups, ...given }: KeyInput): KeyTable {
  const keys = new Map<string, CompiledKey>();
  const previous: CompiledKey[] = [];
  const notices: string[] = [];
  const cassettes = new Map(groups.map(({ id, cassette }) => [id, cassette]));
  const enabled = countEnabled(configured);
  for (const key of configured) {
    const cassette = cassetteOf(key, cassettes.get(key.group));
    const compiled = compileKey(key, given, { cassette, sharesGroup: (enabled.get(key.group) ?? 0) > 1 });
    if (!compiled) continue;
    const first = keys.get(compiled.digestName);
    if (first) {
      notices.push(`Key "${key.id}" has the same secret as key "${first.id}" and is not used: give it one of its own.`);
      continue;
    }
    keys.set(compiled.digestName, compiled.key);
    if (key.previous) previous.push(withPreviousSecret(compiled.key, key.previous));
  }
  // After all current secrets, which take precedence.
  for (const key of previous) {
    const name = nameOf(key.digest);
    if (!keys.has(name)) keys.set(name, key);
  }
  return { keys, notices };
}

/** The previous table with the changes of a few plain keys; null if all keys have to be compiled. */
function changedTable({ configured, groups, ...given }: KeyInput, previousTable: KeyTable): KeyTable | null {
  const previousInput = inputs.get(previousTable.keys);
  if (previousInput?.groups !== groups || previousInput.personLimits !== given.personLimits) return null;
  const splice = spliceBetween(previousInput.configured, configured);
  if (!splice) return { keys: previousTable.keys, notices: previousTable.notices };
  if (previousTable.notices.length > 0 || splice.removed + splice.entries.length > fewChanges) return null;
  const removedKeys = previousInput.configured.slice(splice.at, splice.at + splice.removed);
  const touched = new Set([...removedKeys, ...splice.entries].map(({ group }) => group));
  const members = configured.filter(({ group }) => touched.has(group));
  if (![...removedKeys, ...members].every(isPlain)) return null;
  const keys = new Map(previousTable.keys);
  for (const key of removedKeys) keys.delete(nameOf(bytesOfHash(key.hash ?? '')));
  const cassettes = new Map(groups.map(({ id, cassette }) => [id, cassette]));
  const enabled = countEnabled(members);
  for (const key of members) {
    const cassette = cassetteOf(key, cassettes.get(key.group));
    const compiled = compileKey(key, given, { cassette, sharesGroup: (enabled.get(key.group) ?? 0) > 1 });
    if (!compiled || (keys.get(compiled.digestName)?.id ?? key.id) !== key.id) return null;
    keys.set(compiled.digestName, compiled.key);
  }
  return { keys, notices: [] };
}

/** It has one secret, whose hash is known. */
const isPlain = ({ hash: ownHash, previous }: KeyConfig) => ownHash !== undefined && previous === undefined;

/** By group. */
function countEnabled(keys: readonly KeyConfig[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { group, enabled } of keys) if (enabled) counts.set(group, (counts.get(group) ?? 0) + 1);
  return counts;
}

interface NamedKey {
  /** The digest as text, as in `Snapshot.keys`. */
  digestName: string;
  key: CompiledKey;
}

/** The latest result for each key. */
const compiledBefore = new WeakMap<KeyConfig, NamedKey>();

function compileKey(
  key: KeyConfig,
  { secrets, personLimits }: Pick<KeyInput, 'secrets' | 'personLimits'>,
  { cassette, sharesGroup }: Pick<CompiledKey, 'cassette' | 'sharesGroup'>,
): NamedKey | null {
  const person = key.owner === undefined ? null : personLimits.of(key.owner);
  const cached = compiledBefore.get(key);
  if (
    cached &&
    cached.key.cassette === cassette &&
    cached.key.sharesGroup === sharesGroup &&
    cached.key.person === person
  )
    return cached;
  const digest = digestOf(key, secrets);
  if (!digest) return null;
  const compiled: CompiledKey = {
    id: key.id,
    digest,
    name: key.name ?? key.id,
    groupId: key.group,
    capture: key.capture ?? false,
    faults: key.faults ?? false,
    cassette,
    sharesGroup,
    limited: compileLimits('key', key),
    person,
    enabled: key.enabled,
    expiresAtMs: key.expiresAt ? Date.parse(key.expiresAt) : null,
    allowsModel: key.models ? matchesAny(key.models) : null,
    aliases: key.aliases && key.aliases.length > 0 ? key.aliases : null,
    replacedAtMs: null,
  };
  const namedKey = { digestName: nameOf(digest), key: compiled };
  // The value of a referenced secret may differ next time.
  if (key.hash) compiledBefore.set(key, namedKey);
  return namedKey;
}

const nameOf = (digest: Buffer) => digest.toString('latin1');

function cassetteOf(
  { cassette: ownCassette }: KeyConfig,
  ofGroup: GroupConfig['cassette'] | undefined,
): CompiledKey['cassette'] {
  if (ownCassette === undefined) return ofGroup ?? null;
  return ownCassette === 'off' ? null : ownCassette;
}

function withPreviousSecret(key: CompiledKey, { hash, until }: NonNullable<KeyConfig['previous']>): CompiledKey {
  return { ...key, digest: bytesOfHash(hash), replacedAtMs: Date.parse(until) };
}

/** Keys have 250 random bits, so a plain hash is safe; a password hash would cost time on each request. */
function digestOf(key: KeyConfig, secrets: ReadonlyMap<string, string>): Buffer | null {
  if (key.hash) return bytesOfHash(key.hash);
  const secret = trimSecret(secrets.get(keySecretName(key.id)) ?? '');
  // An empty secret, such as an empty environment variable, must not match requests without a key.
  return secret ? hash('sha256', secret, 'buffer') : null;
}

function bytesOfHash(text: string): Buffer {
  return Buffer.from(text.slice('sha256:'.length), 'hex');
}

/** Null if nothing is limited. */
export function compileLimits<Scope extends CountedScope>(
  scope: Scope,
  config: KeyConfig | GroupConfig,
): (Limited & { scope: Scope }) | null {
  const { id, name, limits } = config;
  if (!limits || !isLimiting(limits)) return null;
  const sinceMs = 'createdAt' in config && config.createdAt ? Date.parse(config.createdAt) : 0;
  const groupId = 'group' in config ? config.group : id;
  return { scope, id, groupId, name: name ?? id, limits, sinceMs };
}

function isLimiting({ budgets, ...rates }: Limits): boolean {
  return budgets.length > 0 || Object.values(rates).some((rate) => rate !== undefined);
}

/** The limits of people over all of their keys. */
interface PersonLimits {
  /** Differs when any of them do. */
  readonly text: string;
  /** Null if nothing is limited. */
  of(personId: string): Limited | null;
}

const noLimits: PersonLimits = { text: '', of: () => null };
let latest = noLimits;
const known = new WeakMap<PeopleSettings, PersonLimits>();

/** Compiled again only when they have changed, since the keys of all people refer to them. */
export function compilePersonLimits(people: PeopleSettings | null): PersonLimits {
  if (people === null) return noLimits;
  const limits = known.get(people) ?? compileFor(people);
  known.set(people, limits);
  return limits;
}

function compileFor({ personLimits, personLimitsOf }: PeopleSettings): PersonLimits {
  if (personLimits === undefined && personLimitsOf.length === 0) return noLimits;
  const text = JSON.stringify([personLimits, personLimitsOf]);
  if (latest.text === text) return latest;
  const own = new Map(personLimitsOf.map(({ person, limits }) => [person, limits]));
  const compiled = new Map<string, Limited | null>();
  latest = {
    text,
    of(id) {
      let limited = compiled.get(id);
      if (limited === undefined) {
        const limits = own.get(id) ?? personLimits;
        const isLimited = limits !== undefined && isLimiting(limits);
        limited = isLimited ? { scope: 'person', id, groupId: null, name: id, limits, sinceMs: 0 } : null;
        compiled.set(id, limited);
      }
      return limited;
    },
  };
  return latest;
}

// Patterns of model names, and the rules that deny models by them.

/** Compiles patterns such as `gpt-*`; `*` matches any run of characters, everything else itself, case-sensitively. */
export function matchesAny(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(compile);
  return (name) => exact.has(name) || wild.some((matches) => matches(name));
}

/** Not a regular expression: with several `*` its backtracking would explode for a long name, and clients choose the name. */
function compile(pattern: string): (name: string) => boolean {
  const parts = pattern.split('*');
  const first = parts.shift() ?? '';
  const last = parts.pop() ?? '';
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
    const middle = name.slice(first.length, name.length - last.length);
    let from = 0;
    return parts.every((part) => {
      const at = middle.indexOf(part, from);
      from = at + part.length;
      return at !== -1;
    });
  };
}

/** Whether a model is banned, at one provider or as a name that a client asks for. */
type IsDenied = (model: string, providerId?: string) => boolean;

/**
 * What a group may not use. Unlike the names that it allows, a ban holds for the model that a provider would be asked for, in
 * whatever form a client, an alias or a provider names it: dated, with a maker in front, in other letters.
 *
 * @param patterns names, with `*` for any run of characters; `provider/model` bans a model at one provider
 */
export function compileDenied(patterns: readonly string[]): IsDenied {
  if (patterns.length === 0) return () => false;
  const folded = patterns.map(foldName);
  const plain = folded.filter((pattern) => !pattern.includes('/'));
  const isWritten = matchesAny(folded);
  const isSeparated = matchesAny(folded.map(separated));
  const isCanonical = matchesAny(plain.map((pattern) => pattern.split('*').map(canonicalName).join('*')));
  const meant = new Set(plain.filter((pattern) => !pattern.includes('*')).map(meaningOf));
  return (model, providerId) => {
    const identity = identify(model);
    const { model: name, written } = identity;
    const asked = foldName(model);
    const spellings = [asked, written, ...(providerId === undefined ? [] : [`${foldName(providerId)}/${asked}`])];
    return (
      spellings.some((spelling) => isWritten(spelling) || isSeparated(separated(spelling))) ||
      isCanonical(name) ||
      isCanonical(canonicalName(written)) ||
      meant.has(name) ||
      meant.has(datedName(identity))
    );
  };
}

const separated = (name: string) => name.replace(/[._:@]+/g, '-');

/** A ban of a model holds for all its dates and suffixes; one of a date or a suffix for that alone. */
function meaningOf(pattern: string): string {
  const identity = identify(pattern);
  return identity.date === null && identity.suffixes.length === 0 ? identity.model : datedName(identity);
}

const datedName = ({ model, date, suffixes }: ModelIdentity) => [model, date ?? '', ...suffixes].join('@');
