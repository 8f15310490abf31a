/**
 * A team preset: what a team hands out so that each person adds only credentials. Part of a configuration, with who made it
 * and what of it stays fixed. The JSON Schema published in `docs/team-preset.schema.json` is derived from this one.
 *
 * It never holds a secret, and is refused if something in it looks like one.
 */
import { z } from 'zod';
import { aliasSchema, demoProviderId, groupSchema, idSchema, providerSchema } from './config.ts';
import { findDoubles, type TellIssue } from './find-doubles.ts';
import { lockableParts } from './lock.ts';
import { lockedPaths } from './locked-paths.ts';
import { isSecretHeader } from './secret-header.ts';
import { hasUserInfo, looksLikeSecret, looksLikeSecretInHeader } from './secret-shape.ts';
import { withoutRetiredSettings, writtenSettingsSchema } from './written-settings.ts';

/** A place that each person fills with a credential of their own. */
const credentialSlotSchema = z.strictObject({
  id: idSchema,
  label: z.string().max(200).optional(),
  /** Where the administrator puts it for everyone. Only in presets that are built in or come as a policy. */
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
  /** Version of the preset's shape. Tells a preset from an exported configuration. */
  teamPreset: z.literal(1),
  /** What it is called: `Acme engineering`. */
  name: z.string().trim().min(1).max(100),
  /** Who answers for it; shown with everything that is locked. */
  organisation: z.string().trim().min(1).max(100),
  /** Whom to ask: an address or a sentence. */
  contact: z.string().trim().min(1).max(200).optional(),
  /** Of the preset itself, in the team's own counting. */
  version: z.string().min(1).max(50).optional(),
  providers: z
    .array(providerSchema.extend({ credentials: z.array(credentialSlotSchema).max(20).default([]) }))
    .max(100)
    .default([]),
  aliases: z.array(aliasSchema).max(1000).default([]),
  groups: z.array(groupSchema).max(100).default([]),
  settings: writtenSettingsSchema.optional(),
  /**
   * What a person may not change, of what the preset says: `groups` (all its groups, and none can be added), `groups/default`
   * (all that it says of that group), `groups/default/models` (one field); `settings/host`, `settings/ledger`.
   */
  locked: z.array(lockPath).max(1000).default([]),
  /** Whether an installed program looks for updates by itself. Counts where the preset is built in or comes as a policy. */
  updates: z.enum(['on', 'off']).default('off'),
});

export const teamPresetSchema = presetShape.superRefine((preset, context) => {
  const issue: TellIssue = (path, message) => context.addIssue({ code: 'custom', path, message });
  findDoubles(preset.providers, ['providers'], issue);
  findDoubles(preset.aliases, ['aliases'], issue);
  findDoubles(preset.groups, ['groups'], issue);
  findSecrets(preset, [], issue);
  findProviderFaults(preset, issue);
});

/** As it is written: what it leaves out, it leaves as it is. */
export type TeamPreset = z.input<typeof teamPresetSchema>;

/** Takes what fits the schema, as it was written: defaults would say what the preset does not. */
export const writtenTeamPresetSchema = z.unknown().transform((value, context): TeamPreset => {
  const issue: TellIssue = (path, message) => context.addIssue({ code: 'custom', path, message });
  const parsed = teamPresetSchema.safeParse(value);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) issue(path, message);
    return z.NEVER;
  }
  // The input of a schema that has just taken it.
  const preset = value as TeamPreset;
  preset.locked?.forEach((path, index) => {
    if (lockedPaths(preset, path).length === 0) issue(['locked', index], `the preset says nothing of "${path}"`);
  });
  return preset.settings ? withoutRetired(preset, preset.settings) : preset;
});

/** A lock on nothing else goes too: the preset that is left says nothing of it. */
function withoutRetired(preset: TeamPreset, settings: NonNullable<TeamPreset['settings']>): TeamPreset {
  const left = { ...preset, settings: withoutRetiredSettings(settings) };
  const locked = preset.locked?.filter((path) => lockedPaths(left, path).length > 0);
  return locked ? { ...left, locked } : left;
}

type ParsedPreset = z.infer<typeof presetShape>;

function findProviderFaults({ providers }: ParsedPreset, issue: TellIssue): void {
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

/** In every text, names included; the text itself is never repeated. */
function findSecrets(value: unknown, path: PropertyKey[], issue: TellIssue): void {
  if (typeof value === 'string' && looksLikeSecret(value)) issue(path, looksLike);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (looksLikeSecret(name)) issue(path, looksLike);
    else findSecrets(inner, [...path, name], issue);
  }
}
