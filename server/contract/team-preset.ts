/**
 * A team preset: a partial configuration that a team distributes, so that each person only adds credentials. It names
 * its publisher and the parts that are locked. `docs/team-preset.schema.json` is generated from this schema.
 *
 * A preset with anything that looks like a secret is refused.
 */
import { z } from 'zod';
import {
  aliasSchema,
  demoProviderId,
  findDuplicates,
  groupSchema,
  idSchema,
  providerSchema,
  type ReportIssue,
} from './config.ts';
import { isObject } from './is-object.ts';
import { type LockablePart, lockableParts } from './lock.ts';
import { withoutRemovedFields } from './removed-features.ts';
import { hasUserInfo, isSecretHeader, looksLikeSecret, looksLikeSecretInHeader } from './secret-shape.ts';
import { settingsSchema } from './settings.ts';

/** A credential that each person enters. */
const credentialSlotSchema = z.strictObject({
  id: idSchema,
  label: z.string().max(200).optional(),
  /** A variable that the administrator sets for everyone. Only in built-in presets and policies. */
  secret: z
    .string()
    .regex(/^env:.+$/s, 'use env:NAME, or leave it out: each person enters their own')
    .optional(),
});

const lockPath = z
  .string()
  .regex(
    new RegExp(`^(${lockableParts.join('|')})(/.+)?$`, 's'),
    'use PART, PART/ID or PART/ID/FIELD with PART one of providers, aliases, groups and settings',
  );

const presetShape = z.strictObject({
  $schema: z.string().optional(),
  /** Version of the format. Distinguishes a preset from an exported configuration. */
  teamPreset: z.literal(1),
  /** For example `Acme engineering`. */
  name: z.string().trim().min(1).max(100),
  /** The publisher, shown next to everything that is locked. */
  organisation: z.string().trim().min(1).max(100),
  /** Whom to ask about it: an address or a sentence. */
  contact: z.string().trim().min(1).max(200).optional(),
  /** The team's own version of the preset. */
  version: z.string().min(1).max(50).optional(),
  providers: z
    .array(
      providerSchema
        .omit({ joined: true, certificate: true })
        .extend({ credentials: z.array(credentialSlotSchema).max(20).default([]) }),
    )
    .max(100)
    .default([]),
  aliases: z.array(aliasSchema).max(1000).default([]),
  /** Without cassettes, which are folders of one machine. */
  groups: z
    .array(groupSchema.omit({ cassette: true }))
    .max(100)
    .default([]),
  settings: settingsSchema.optional(),
  /**
   * The parts of the preset that nobody may change: `groups` (all its groups; no group can be added), `groups/default`
   * (every field that the preset sets on that group), `groups/default/models` (one field); `settings/host`,
   * `settings/ledger`.
   */
  locked: z.array(lockPath).max(1000).default([]),
  /** Whether an installed program checks for updates. Only in built-in presets and policies. */
  updates: z.enum(['on', 'off']).default('off'),
});

export const teamPresetSchema = presetShape.superRefine((preset, context) => {
  const issue: ReportIssue = (path, message) => context.addIssue({ code: 'custom', path, message });
  findDuplicates(preset.providers, ['providers'], issue);
  findDuplicates(preset.aliases, ['aliases'], issue);
  findDuplicates(preset.groups, ['groups'], issue);
  findSecrets(preset, [], issue);
  findProviderFaults(preset, issue);
});

/** A preset as written. Fields that it omits are not changed. */
export type TeamPreset = z.input<typeof teamPresetSchema>;

/**
 * Validates a preset without applying the schema's defaults, which would set fields that the preset omits. Fields of removed
 * features are dropped, and so are locks that cover nothing else.
 */
export const writtenTeamPresetSchema = z.unknown().transform((written, context): TeamPreset => {
  const issue: ReportIssue = (path, message) => context.addIssue({ code: 'custom', path, message });
  const { value } = withoutRemovedFields(written);
  const parsed = teamPresetSchema.safeParse(value);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) issue(path, message);
    return z.NEVER;
  }
  // Parsing succeeded, so these have the schema's input type.
  const [preset, full] = [value as TeamPreset, written as TeamPreset];
  preset.locked?.forEach((path, index) => {
    if (lockedPaths(full, path).length === 0) issue(['locked', index], `the preset says nothing of "${path}"`);
  });
  const locked = preset.locked?.filter((path) => lockedPaths(preset, path).length > 0);
  return value === written || locked === undefined ? preset : { ...preset, locked };
});

type ParsedPreset = z.infer<typeof presetShape>;

function findProviderFaults({ providers }: ParsedPreset, issue: ReportIssue): void {
  providers.forEach((provider, index) => {
    const { id, baseUrl, proxy, headers } = provider;
    const at = (...field: PropertyKey[]) => ['providers', index, ...field];
    if (id === demoProviderId) issue(at('id'), `"${id}" is the built-in demo provider: choose another id`);
    if (hasUserInfo(baseUrl)) issue(at('baseUrl'), 'leave out the user and password');
    const url = URL.parse(baseUrl);
    if (url?.search || url?.hash) issue(at('baseUrl'), 'leave out the query and the fragment');
    if (hasUserInfo(proxy)) issue(at('proxy'), 'leave out the user and password');
    for (const [name, value] of Object.entries(headers)) {
      if (isSecretHeader(name)) issue(at('headers', name), 'a header that carries a secret belongs into no preset');
      else if (looksLikeSecretInHeader(value)) issue(at('headers', name), looksLike);
    }
  });
}

const looksLike = 'this looks like a secret; a preset never holds one';

/** Checks all strings, property names included. The error does not repeat the string. */
function findSecrets(value: unknown, path: PropertyKey[], issue: ReportIssue): void {
  if (typeof value === 'string' && looksLikeSecret(value)) issue(path, looksLike);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (looksLikeSecret(name)) issue(path, looksLike);
    else findSecrets(inner, [...path, name], issue);
  }
}

/** The lockable parts of a preset, as written in its file. */
interface Lockable {
  providers?: readonly Omit<z.input<typeof providerSchema>, 'credentials'>[] | undefined;
  aliases?: readonly z.input<typeof aliasSchema>[] | undefined;
  groups?: readonly z.input<typeof groupSchema>[] | undefined;
  settings?: z.input<typeof settingsSchema> | undefined;
}

/** Credentials belong to each person, and an id cannot change anyway. */
const neverLocked = ['id', 'credentials'];

/**
 * The paths (see `Lock`) that an entry of `locked` covers: only what the preset itself sets. Empty if it sets nothing
 * there.
 */
export function lockedPaths(preset: Lockable, entry: string): string[] {
  const [part, ...rest] = entry.split('/') as [LockablePart, ...string[]];
  const [id, field] = rest;
  switch (part) {
    case 'settings':
      return lockedSettings(preset.settings ?? {}, id);
    case 'aliases':
      // Model names may contain slashes.
      return lockedAliases(preset.aliases ?? [], rest.length > 0 ? rest.join('/') : undefined);
    default:
      return lockedEntries(part, preset[part] ?? [], { id, field });
  }
}

/** The full names of single settings: `ledger.retentionDays` for `{ ledger: { retentionDays: 30 } }`. */
export function settingNames(settings: object, prefix = ''): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isGroup = isObject(value);
    return isGroup ? settingNames(value, `${prefix}${name}.`) : [prefix + name];
  });
}

function lockedSettings(settings: object, onlyName: string | undefined): string[] {
  const names = settingNames(settings);
  const isWanted = (name: string) => onlyName === undefined || name === onlyName || name.startsWith(`${onlyName}.`);
  return names.filter(isWanted).map((name) => `settings/${name}`);
}

function lockedAliases(aliases: readonly { name: string }[], onlyName: string | undefined): string[] {
  const matching = aliases.filter(({ name }) => onlyName === undefined || name === onlyName);
  const paths = matching.flatMap(({ name }) => [`aliases/${name}`, `aliases/${name}/*`]);
  return onlyName === undefined ? ['aliases', ...paths] : paths;
}

function lockedEntries(
  part: LockablePart,
  entries: readonly { id: string }[],
  only: { id: string | undefined; field: string | undefined },
): string[] {
  const paths = entries
    .filter(({ id }) => only.id === undefined || id === only.id)
    .flatMap((entry) => {
      const fields = Object.entries(entry)
        .filter(([name, value]) => value !== undefined && !neverLocked.includes(name))
        .map(([name]) => name)
        .filter((name) => only.field === undefined || name === only.field);
      if (only.field !== undefined && fields.length === 0) return [];
      return [`${part}/${entry.id}`, ...fields.map((name) => `${part}/${entry.id}/${name}`)];
    });
  return only.id === undefined ? [part, ...paths] : paths;
}

/** A join that has begun and waits for the person. */
export interface BegunJoin {
  /** For `team.finish-join`. */
  id: string;
  /** Origin of the team's gateway: `https://gateway.example`. */
  origin: string;
  /** The code to enter and the page to enter it on; null if an earlier sign-in is still valid. */
  signIn: { code: string; url: string } | null;
  /** Time to wait between two `team.finish-join` commands. */
  intervalSeconds: number;
  /** Unix milliseconds, after which the join cannot be finished. */
  expiresAt: number;
}

/**
 * `waiting`: the person has not approved it yet; `choosing`: a group must be chosen; `joined`: the provider has been
 * added.
 */
export type JoinState =
  | { state: 'waiting' }
  | { state: 'choosing'; groups: readonly { id: string; name: string | null }[] }
  /** `provider`: its id here; `key`: the id of the key on the gateway. */
  | { state: 'joined'; provider: string; key: string; group: string; preset: JoinPreset };

/**
 * Whether the gateway offers a team preset to those who join. It is not applied yet: `team-preset.apply` does that,
 * after the person has seen `team-preset-preview`.
 */
export type JoinPreset =
  | { state: 'none' }
  | { state: 'offered'; preset: TeamPreset }
  /** This machine has a policy or a built-in preset, which takes precedence. */
  | { state: 'managed' }
  /** `reason` is English. */
  | { state: 'unusable'; reason: string };
