import type { ConfigChange } from '../../contract/change-views.ts';
import { type Config, configSchema } from '../../contract/config.ts';
import { isObject } from '../../contract/is-object.ts';
import { entriesNotIn } from '../../contract/list-splice.ts';
import { withoutSecretsInProviders } from './provider-secrets.ts';

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

type Named = Map<string, object>;

function byId(list: readonly { id: string }[]): Named {
  return new Map(list.map((entry) => [entry.id, entry]));
}

function byName(list: readonly { name: string }[]): Named {
  return new Map(list.map((entry) => [entry.name, entry]));
}

function compareLists(part: ConfigChange['part'], before: Named, after: Named): ConfigChange[] {
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
