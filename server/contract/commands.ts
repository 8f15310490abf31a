/**
 * Every change a person can make, as data: what the window sends over IPC or HTTP and what the command line sends over
 * HTTP. A command carries secrets inward; the only results that carry one outward are those of `key.create`, `key.rotate`
 * and `key.reveal`.
 *
 * Over HTTP the reply is `ControlReply`: `{"result": …}` or `{"error": …}`.
 */
import { z } from 'zod';
import type { AliasView, GroupView, KeyView } from './access-views.ts';
import {
  aliasSchema,
  configSchema,
  contextTokensSchema,
  credentialSchema,
  groupSchema,
  idSchema,
  keySchema,
  limitsSchema,
  providerSchema,
} from './config.ts';
import type { ErrorBody } from './errors.ts';
import type { CredentialView, ProviderView } from './provider-views.ts';
import { settingsSchema } from './settings.ts';
import { writtenTeamPresetSchema } from './team-preset.ts';

/** The value of a secret on its way in; white space around it was pasted along. */
export const secretValue = z
  .string()
  .trim()
  .min(1)
  .max(16_384)
  .regex(/^[\x20-\x7e]*$/, 'a secret that goes into a header holds only printable ASCII characters');

/** Refused with `conflict` if another revision is in force by then. Absent: whatever it is. */
const expectedRevision = z.number().int().positive().optional();

const isGiven = (value: string | undefined) => value !== undefined;

const displayName = z.string().trim().min(1).max(200);
const providerShape = providerSchema.shape;

/** What can be changed of a provider; for an optional property null removes it. */
const providerChangesSchema = z
  .strictObject({
    name: displayName.nullable(),
    preset: z.string().max(64).nullable(),
    dialect: providerShape.dialect.unwrap(),
    baseUrl: providerShape.baseUrl,
    headers: providerShape.headers.unwrap(),
    enabled: z.boolean(),
    models: providerShape.models.unwrap(),
    timeouts: providerShape.timeouts.unwrap(),
    proxy: providerShape.proxy.unwrap(),
    apiVersion: z.string().max(64).nullable(),
    contextTokens: contextTokensSchema.nullable(),
    askUsage: z.boolean(),
  })
  .partial();

/**
 * A credential: the `secret` itself, which goes into the secret store; a `reference` to it; or the `variable` of Sluice's own
 * environment whose value of now goes into the secret store.
 */
const newCredentialSchema = z
  .strictObject({
    /** Absent: made from the label, or `c1`, `c2`, … */
    id: idSchema.optional(),
    label: credentialSchema.shape.label,
    secret: secretValue.optional(),
    /** `env:NAME` or `file:PATH`. */
    reference: z
      .string()
      .regex(/^(env|file):.+$/s, 'use env:NAME or file:PATH')
      .optional(),
    variable: z.string().min(1).max(256).optional(),
    enabled: z.boolean().default(true),
  })
  .refine(({ secret, reference, variable }) => [secret, reference, variable].filter(isGiven).length === 1, {
    message: 'give one of the secret, a reference to it, and a variable that holds it',
  });

const keyChangesSchema = z
  .strictObject({
    name: displayName.nullable(),
    group: idSchema,
    enabled: z.boolean(),
    expiresAt: keySchema.shape.expiresAt.unwrap().nullable(),
    models: keySchema.shape.models.unwrap().min(1).nullable(),
    limits: limitsSchema.nullable(),
  })
  .partial();

/**
 * `limits`, `admission`, `ledger`, `capture` and `jobs` are merged with what is set; everything else is replaced. Checked
 * with the configuration.
 */
export type SettingsChanges = Partial<z.input<typeof settingsSchema>>;

const settingsChangesSchema = z.custom<SettingsChanges>(
  (value) =>
    typeof value === 'object' && value !== null && Object.keys(value).every((name) => name in settingsSchema.shape),
  `use an object with some of ${Object.keys(settingsSchema.shape).join(', ')}`,
);

export const commandSchema = z.discriminatedUnion('type', [
  /** With `preset`, everything that is absent comes from it; without one, `baseUrl` is needed. */
  z.strictObject({
    type: z.literal('provider.add'),
    /** Absent: made from the name, the preset or the host. */
    id: idSchema.optional(),
    provider: providerChangesSchema,
    credentials: z.array(newCredentialSchema).max(100).default([]),
    expectedRevision,
  }),
  z.strictObject({
    type: z.literal('provider.update'),
    id: idSchema,
    changes: providerChangesSchema,
    expectedRevision,
  }),
  /** Its secrets go too. Refused with `conflict` while aliases name it. */
  z.strictObject({ type: z.literal('provider.remove'), id: idSchema, expectedRevision }),
  z.strictObject({ type: z.literal('provider.set-enabled'), id: idSchema, enabled: z.boolean(), expectedRevision }),
  /** Asks the provider for its models now. What went wrong is in the view's `discovery.problem`. */
  z.strictObject({ type: z.literal('provider.refresh-models'), id: idSchema }),
  /** Forgets how it did so far: cooldowns end, and refused credentials are tried again. With `credential` only that one's. */
  z.strictObject({ type: z.literal('provider.reset-health'), id: idSchema, credential: idSchema.optional() }),
  /** Adds a credential, or changes the one with that id: what is absent stays. */
  z.strictObject({
    type: z.literal('credential.set'),
    provider: idSchema,
    id: idSchema.optional(),
    label: z.string().max(200).nullable().optional(),
    secret: secretValue.optional(),
    reference: z
      .string()
      .regex(/^(env|file):.+$/s, 'use env:NAME or file:PATH')
      .optional(),
    enabled: z.boolean().optional(),
    expectedRevision,
  }),
  z.strictObject({ type: z.literal('credential.remove'), provider: idSchema, id: idSchema, expectedRevision }),
  z.strictObject({
    type: z.literal('key.create'),
    /** Absent: made from the name, or `key-1`, `key-2`, … */
    id: idSchema.optional(),
    name: displayName.optional(),
    group: idSchema.default('default'),
    enabled: z.boolean().default(true),
    expiresAt: keySchema.shape.expiresAt,
    models: keySchema.shape.models.unwrap().min(1).optional(),
    limits: limitsSchema.optional(),
    /** Keep the secret in the secret store so that it can be copied again. Else it is shown this once. */
    keepSecret: z.boolean().default(true),
    expectedRevision,
  }),
  z.strictObject({ type: z.literal('key.update'), id: idSchema, changes: keyChangesSchema, expectedRevision }),
  /** A new secret; the old one ends at once. `keepSecret` absent: as before. */
  z.strictObject({
    type: z.literal('key.rotate'),
    id: idSchema,
    keepSecret: z.boolean().optional(),
    expectedRevision,
  }),
  /** The key is gone, with its secret; its requests stay in the ledger. */
  z.strictObject({ type: z.literal('key.revoke'), id: idSchema, expectedRevision }),
  /** Refused with `not_found` if the secret was not kept. */
  z.strictObject({ type: z.literal('key.reveal'), id: idSchema }),
  /** Adds the group, or replaces the one with that id. */
  z.strictObject({
    type: z.literal('group.put'),
    group: groupSchema.extend({
      /** Absent: a new group, its id made from the name. */
      id: idSchema.optional(),
    }),
    expectedRevision,
  }),
  /** Refused with `conflict` while keys are in it. */
  z.strictObject({ type: z.literal('group.remove'), id: idSchema, expectedRevision }),
  /** Adds the alias, or replaces the one of that name. */
  z.strictObject({ type: z.literal('alias.put'), alias: aliasSchema, expectedRevision }),
  z.strictObject({ type: z.literal('alias.remove'), name: z.string(), expectedRevision }),
  /** Host, port and certificate files hold from the next start on, everything else at once. `demo`: `auto`, `on` or `off`. */
  z.strictObject({ type: z.literal('settings.update'), changes: settingsChangesSchema, expectedRevision }),
  /**
   * Replaces the whole configuration by an exported one. Secrets that are here already stay with the credentials and keys
   * that have the same ids; those of everything that is gone, or of providers that it sends elsewhere, are deleted.
   */
  z.strictObject({ type: z.literal('config.import'), config: configSchema, expectedRevision }),
  /**
   * Lays a team preset over the configuration (see `mergeTeamPreset`). Stored credentials of a provider that it sends elsewhere
   * are deleted. Of two imported presets the later one counts.
   */
  z.strictObject({ type: z.literal('team-preset.apply'), preset: writtenTeamPresetSchema, expectedRevision }),
  /** What the imported preset has brought stays, and can be changed again. A managed preset cannot be left. */
  z.strictObject({ type: z.literal('team-preset.leave') }),
  /** A new address that opens the window in a browser, once and within ten minutes. */
  z.strictObject({ type: z.literal('window.create-address') }),
  /** Ends the sessions of all browsers, the asking one too, and addresses that were not opened yet. */
  z.strictObject({ type: z.literal('window.sign-out-everywhere') }),
]);

/** As it is after parsing: defaults are in it. */
export type Command = z.infer<typeof commandSchema>;
/** As it is sent. */
export type CommandInput = z.input<typeof commandSchema>;
export type CommandType = Command['type'];
export type CommandMap = { [C in Command as C['type']]: C };
export type CommandInputMap = { [C in CommandInput as C['type']]: C };
export type ProviderChanges = z.infer<typeof providerChangesSchema>;
export type NewCredential = z.infer<typeof newCredentialSchema>;

/** The revision that the command made. */
interface Committed {
  revision: number;
}

export interface CommandResults {
  'provider.add': Committed & { provider: ProviderView };
  'provider.update': Committed & { provider: ProviderView };
  'provider.remove': Committed;
  'provider.set-enabled': Committed & { provider: ProviderView };
  'provider.refresh-models': { provider: ProviderView };
  'provider.reset-health': { provider: ProviderView };
  'credential.set': Committed & { credential: CredentialView };
  'credential.remove': Committed;
  'key.create': Committed & { key: KeyView; secret: string };
  'key.update': Committed & { key: KeyView };
  'key.rotate': Committed & { key: KeyView; secret: string };
  'key.revoke': Committed;
  'key.reveal': { secret: string };
  'group.put': Committed & { group: GroupView };
  'group.remove': Committed;
  'alias.put': Committed & { alias: AliasView };
  'alias.remove': Committed;
  'settings.update': Committed;
  /** `missingSecrets`: credentials, as `provider/credential`, that have no secret here and must be entered again. */
  'config.import': Committed & { missingSecrets: string[] };
  /** `missingSecrets`: of the preset's providers, as with `config.import`. */
  'team-preset.apply': Committed & { missingSecrets: string[] };
  'team-preset.leave': Record<string, never>;
  'window.create-address': { url: string };
  /** `ended`: how many browsers were signed in. */
  'window.sign-out-everywhere': { ended: number };
}

export type CommandResult = CommandResults[CommandType];

/** What `/control/execute` and `/control/query` answer. */
export type ControlReply<Result> = { result: Result } | { error: ErrorBody };
