/**
 * The commands of the control plane: what the window sends over IPC or HTTP, and the command line over HTTP. Secrets go
 * inward only, except in the results of `key.create`, `key.rotate` and `key.reveal`.
 *
 * Over HTTP the response is a `ControlReply`: `{"result": …}` or `{"error": …}`.
 */
import { z } from 'zod';
import type { AliasView, GroupView, KeyView } from './access-views.ts';
import type { ClearedCache } from './answer-cache.ts';
import { startCaptureSchema, stopCaptureSchema } from './capture-commands.ts';
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
  servesSchema,
} from './config.ts';
import type { ErrorBody } from './errors.ts';
import { startFaultsSchema, stopFaultsSchema } from './fault-commands.ts';
import type { TimedFaultsView } from './faults.ts';
import type { CredentialView, ProviderView } from './provider-views.ts';
import { resumeSessionSchema, stopSessionSchema } from './session-commands.ts';
import { settingsSchema } from './settings.ts';
import type { TimedCaptureView } from './status-views.ts';
import { writtenTeamPresetSchema } from './team-preset.ts';

/** The value of a new secret. Surrounding white space is a copy-and-paste accident. */
export const secretValue = z
  .string()
  .trim()
  .min(1)
  .max(16_384)
  .regex(/^[\x20-\x7e]*$/, 'a secret that goes into a header holds only printable ASCII characters');

/** The command fails with `conflict` if the configuration has another revision. Absent: any revision. */
const expectedRevision = z.number().int().positive().optional();

const isGiven = (value: string | undefined) => value !== undefined;

const displayName = z.string().trim().min(1).max(200);
const providerShape = providerSchema.shape;

/** The properties of a provider that can be changed; null removes an optional one. */
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
    serves: servesSchema.nullable(),
  })
  .partial();

/**
 * A credential: either the `secret` itself, which goes into the secret store; a `reference` to it; or the name of an
 * environment `variable` of Sluice, whose present value is copied into the secret store.
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
    capture: z.boolean(),
    faults: z.boolean(),
    cassette: keySchema.shape.cassette.unwrap().nullable(),
  })
  .partial();

/**
 * `limits`, `admission`, `ledger`, `capture`, `jobs`, `keptResponses` and `telemetry` are merged with the present values; everything
 * else is replaced.
 * Validated together with the configuration.
 */
export type SettingsChanges = Partial<z.input<typeof settingsSchema>>;

const settingsChangesSchema = z.custom<SettingsChanges>(
  (value) =>
    typeof value === 'object' && value !== null && Object.keys(value).every((name) => name in settingsSchema.shape),
  `use an object with some of ${Object.keys(settingsSchema.shape).join(', ')}`,
);

/** How a client is to reach Sluice. */
export const connectShape = {
  client: z.string().max(64),
  key: idSchema,
  model: z.string().trim().min(1).max(512),
  /** The key's secret, where it was not kept; used only for clients that read the key from their file. */
  secret: secretValue.optional(),
};

export const commandSchema = z.discriminatedUnion('type', [
  /** With `preset`, absent properties are taken from it; without one, `baseUrl` is required. */
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
  /** Deletes its secrets too. Fails with `conflict` while aliases refer to it. */
  z.strictObject({ type: z.literal('provider.remove'), id: idSchema, expectedRevision }),
  z.strictObject({ type: z.literal('provider.set-enabled'), id: idSchema, enabled: z.boolean(), expectedRevision }),
  /** Asks the provider for its models now. A failure is reported in the view's `discovery.problem`. */
  z.strictObject({ type: z.literal('provider.refresh-models'), id: idSchema }),
  /** Ends all cooldowns of the provider and unblocks refused credentials; with `credential`, only those of that one. */
  z.strictObject({ type: z.literal('provider.reset-health'), id: idSchema, credential: idSchema.optional() }),
  /** Adds a credential, or changes the one with that id; absent properties stay as they are. */
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
    capture: z.boolean().default(false),
    faults: z.boolean().default(false),
    cassette: keySchema.shape.cassette,
    /** Keep the secret in the secret store, so that it can be shown again; otherwise it is shown only once. */
    keepSecret: z.boolean().default(true),
    expectedRevision,
  }),
  z.strictObject({ type: z.literal('key.update'), id: idSchema, changes: keyChangesSchema, expectedRevision }),
  /**
   * Replaces the secret. The old one works for `graceHours` more; one that an earlier rotation left stops working at once.
   * `keepSecret` absent: as before.
   */
  z.strictObject({
    type: z.literal('key.rotate'),
    id: idSchema,
    graceHours: z.number().min(0).max(168).default(0),
    keepSecret: z.boolean().optional(),
    expectedRevision,
  }),
  /** Removes the key and its secret; its requests stay in the ledger. */
  z.strictObject({ type: z.literal('key.revoke'), id: idSchema, expectedRevision }),
  /** Fails with `not_found` if the secret was not kept. */
  z.strictObject({ type: z.literal('key.reveal'), id: idSchema }),
  startCaptureSchema,
  stopCaptureSchema,
  startFaultsSchema,
  stopFaultsSchema,
  stopSessionSchema,
  resumeSessionSchema,
  /** Adds a group, or replaces the one with that id. */
  z.strictObject({
    type: z.literal('group.put'),
    group: groupSchema.extend({
      /** Absent: a new group whose id is derived from the name. */
      id: idSchema.optional(),
    }),
    expectedRevision,
  }),
  /** Fails with `conflict` while keys belong to it. */
  z.strictObject({ type: z.literal('group.remove'), id: idSchema, expectedRevision }),
  /** Removes stored answers: of one group, or of all. */
  z.strictObject({ type: z.literal('cache.clear'), group: idSchema.optional() }),
  /**
   * Opens cassettes of groups and keys again, so that they start over with the first of equal recordings and see files that have
   * changed: the one in this folder, or all.
   */
  z.strictObject({ type: z.literal('cassette.rewind'), folder: z.string().max(4_096).optional() }),
  /** Adds an alias, or replaces the one with that name. */
  z.strictObject({ type: z.literal('alias.put'), alias: aliasSchema, expectedRevision }),
  z.strictObject({ type: z.literal('alias.remove'), name: z.string(), expectedRevision }),
  /** Host, port and certificate files take effect at the next start, everything else at once. */
  z.strictObject({ type: z.literal('settings.update'), changes: settingsChangesSchema, expectedRevision }),
  /**
   * Replaces the whole configuration by an exported one. Stored secrets stay with the credentials and keys of the same id;
   * those of removed entries, and of providers whose base URL changes, are deleted.
   */
  z.strictObject({ type: z.literal('config.import'), config: configSchema, expectedRevision }),
  /**
   * Merges a team preset into the configuration (see `mergeTeamPreset`). Stored credentials of a provider whose base URL
   * changes are deleted. A second imported preset replaces the first.
   */
  z.strictObject({ type: z.literal('team-preset.apply'), preset: writtenTeamPresetSchema, expectedRevision }),
  /** Unlocks what the imported preset has set; the values stay. A managed preset cannot be left. */
  z.strictObject({ type: z.literal('team-preset.leave') }),
  /** Writes a client's configuration file as `connect-preview` showed it; `key`, `model` and `secret` as there. */
  z.strictObject({
    type: z.literal('connect.apply'),
    ...connectShape,
    fingerprint: z.string().max(100),
  }),
  /** Takes that back as `connect-undo-preview` showed it. What others changed since stays. */
  z.strictObject({
    type: z.literal('connect.undo'),
    client: connectShape.client,
    fingerprint: z.string().max(100),
  }),
  /** Creates an address that opens the window in a browser, once and within ten minutes. */
  z.strictObject({ type: z.literal('window.create-address') }),
  /** Ends the sessions of all browsers, including the caller's, and voids unused addresses. */
  z.strictObject({ type: z.literal('window.sign-out-everywhere') }),
]);

/** A parsed command, with defaults filled in. */
export type Command = z.infer<typeof commandSchema>;
/** A command as it is sent. */
export type CommandInput = z.input<typeof commandSchema>;
export type CommandType = Command['type'];
export type CommandMap = { [C in Command as C['type']]: C };
export type CommandInputMap = { [C in CommandInput as C['type']]: C };
export type ProviderChanges = z.infer<typeof providerChangesSchema>;
export type NewCredential = z.infer<typeof newCredentialSchema>;

/** The revision that the command created. */
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
  'capture.start': { timed: TimedCaptureView[] };
  'capture.stop': { timed: TimedCaptureView[] };
  'faults.start': { faults: TimedFaultsView[] };
  'faults.stop': { faults: TimedFaultsView[] };
  'session.stop': Record<string, never>;
  'session.resume': Record<string, never>;
  'group.put': Committed & { group: GroupView };
  'group.remove': Committed;
  'cache.clear': ClearedCache;
  'cassette.rewind': Record<string, never>;
  'alias.put': Committed & { alias: AliasView };
  'alias.remove': Committed;
  'settings.update': Committed;
  /** `missingSecrets`: credentials, as `provider/credential`, whose secret must be entered again. */
  'config.import': Committed & { missingSecrets: string[] };
  /** `missingSecrets` as for `config.import`, for the preset's providers. */
  'team-preset.apply': Committed & { missingSecrets: string[] };
  'team-preset.leave': Record<string, never>;
  'connect.apply': Record<string, never>;
  'connect.undo': Record<string, never>;
  'window.create-address': { url: string };
  /** `ended`: the number of browsers that were signed in. */
  'window.sign-out-everywhere': { ended: number };
}

export type CommandResult = CommandResults[CommandType];

/** The response of `/control/execute` and `/control/query`. */
export type ControlReply<Result> = { result: Result } | { error: ErrorBody };
