/** Entries of the configuration's lists: found, put, removed, and named. */

import type { ConfigChange } from '../../contract/change-views.ts';
import { type Config, configSchema } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { Named } from '../../contract/control-problem.ts';
import { isObject } from '../../contract/is-object.ts';
import { entriesNotIn } from '../../contract/list-splice.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';
import type { LiveConfig } from '../live/live-config.ts';
import { withoutSecretsInProviders } from './provider-secrets.ts';

/** The entry with this id. Throws GatewayError `not_found`, whose message names the `noun`. */
export function findById<Item extends { id: string }>(list: readonly Item[], id: string, noun: Named): Item {
  const item = list.find((each) => each.id === id);
  if (!item) throw controlError('not_found', { code: `no-${noun}`, id }, 'id');
  return item;
}

/** Replaces the entry with the item's id, or appends the item. */
export function putById<Item extends { id: string }>(list: readonly Item[], item: Item): Item[] {
  if (!list.some((each) => each.id === item.id)) return [...list, item];
  return list.map((each) => (each.id === item.id ? item : each));
}

export function withoutId<Item extends { id: string }>(list: readonly Item[], id: string): Item[] {
  return list.filter((each) => each.id !== id);
}

/** Undefined changes are ignored; null removes a property. */
export function applyChanges(target: object, changes: object): Record<string, unknown> {
  const changed: Record<string, unknown> = { ...target };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete changed[name];
    else if (value !== undefined) changed[name] = value;
  }
  return changed;
}

/** Formats names: `"a", "b" and 3 more`. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `"${name}"`);
  return names.length > 5 ? `${shown.join(', ')} and ${names.length - 5} more` : shown.join(', ');
}

const maxLength = 56;

/**
 * Returns the wanted id if it is free, and otherwise throws `conflict`. Without a wanted id, returns a unique one
 * derived from the first usable name: with a further name where it is taken (`ollama`, `ollama-nas`), at last with a number.
 * If no name is usable, it is `prefix` and a number.
 */
export function chooseId(
  requestedId: string | undefined,
  names: readonly (string | undefined)[],
  usedIds: Iterable<string>,
  prefix: string,
): string {
  const ids = new Set(usedIds);
  if (requestedId !== undefined) {
    if (ids.has(requestedId)) throw controlError('conflict', { code: 'id-taken', id: requestedId }, 'id');
    return requestedId;
  }
  const [base, ...others] = new Set(names.map((name) => toId(name ?? '')).filter((id) => id !== ''));
  if (base === undefined) return firstFree(prefix, 1, ids);
  const longer = others.map((other) => `${base}-${other}`).filter((id) => id.length <= maxLength);
  return [base, ...longer].find((id) => !ids.has(id)) ?? firstFree(`${base}-`, 2, ids);
}

function firstFree(prefix: string, from: number, usedIds: ReadonlySet<string>): string {
  let number = from;
  while (usedIds.has(`${prefix}${number}`)) number++;
  return `${prefix}${number}`;
}

/** `Büro & Co.` becomes `buro-co`; empty if no character is usable. */
function toId(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, maxLength)
    .replace(/(?<!-)-+$/, '');
}

/** The compiled provider with this id. Throws GatewayError `not_found`. */
export function findUpstream({ snapshot }: Pick<LiveConfig, 'snapshot'>, id: string): CompiledProvider {
  const provider = snapshot.providers.get(id);
  if (!provider) throw controlError('not_found', { code: 'no-provider', id }, 'id');
  return provider;
}

/** All differences by id or name. A different order in a list is not a difference. */
export function compareConfigs(earlier: Config, later: Config): ConfigChange[] {
  return differences(normal(earlier), normal(later));
}

/** The same for two versions of a configuration, in which unchanged entries are the same objects. */
export function changesBetween(earlier: Config, later: Config): ConfigChange[] {
  const before = withoutSecretsInProviders(withoutThose(earlier, later));
  const after = withoutSecretsInProviders(withoutThose(later, earlier));
  return differences(before, after);
}

function differences(before: Config, after: Config): ConfigChange[] {
  return [
    ...compareLists('provider', byId(before.providers), byId(after.providers)),
    ...compareLists('alias', byName(before.aliases), byName(after.aliases)),
    ...compareLists('group', byId(before.groups), byId(after.groups)),
    ...compareLists('key', byId(before.keys), byId(after.keys)),
    ...compareSettings(leaves(before.settings), leaves(after.settings)),
  ];
}

function withoutThose(config: Config, other: Config): Config {
  return {
    ...config,
    providers: entriesNotIn(other.providers, config.providers),
    aliases: entriesNotIn(other.aliases, config.aliases),
    groups: entriesNotIn(other.groups, config.groups),
    keys: entriesNotIn(other.keys, config.keys),
  };
}

/** Applies the schema's defaults, so that an absent field equals its default. */
function normal(config: Config): Config {
  return configSchema.parse(withoutSecretsInProviders(config));
}

type ByName = Map<string, object>;

function byId(list: readonly { id: string }[]): ByName {
  return new Map(list.map((entry) => [entry.id, entry]));
}

function byName(list: readonly { name: string }[]): ByName {
  return new Map(list.map((entry) => [entry.name, entry]));
}

function compareLists(part: ConfigChange['part'], before: ByName, after: ByName): ConfigChange[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name): ConfigChange[] => {
    const [old, now] = [before.get(name), after.get(name)];
    if (!old) return [{ part, name, kind: 'added', fields: [] }];
    if (!now) return [{ part, name, kind: 'removed', fields: [] }];
    const fields = compareFields(leaves(old), leaves(now));
    return fields.length > 0 ? [{ part, name, kind: 'changed', fields }] : [];
  });
}

function compareSettings(before: Texts, after: Texts): ConfigChange[] {
  return compareFields(before, after).map((field) => ({
    part: 'setting',
    name: field.name,
    kind: 'changed',
    fields: [field],
  }));
}

/** Values as JSON, by the names of their fields. */
type Texts = Map<string, string>;

function compareFields(before: Texts, after: Texts): ConfigChange['fields'] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, before: before.get(name) ?? null, after: after.get(name) ?? null }))
    .filter((field) => field.before !== field.after);
}

/** Flattens nested objects: `limits.jsonBodyBytes`, `policy.retries`. */
function leaves(entry: object, prefix = ''): Texts {
  const texts: Texts = new Map();
  for (const [name, value] of Object.entries(entry)) {
    if (value === undefined) continue;
    const isGroup = isObject(value);
    if (!isGroup) texts.set(prefix + name, JSON.stringify(value));
    else for (const [inner, text] of leaves(value, `${prefix}${name}.`)) texts.set(inner, text);
  }
  return texts;
}
