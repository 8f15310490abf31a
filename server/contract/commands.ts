/**
 * The commands of the control plane, which the window sends over IPC or HTTP and the command line over HTTP. Secrets
 * are accepted but not returned, except in the results of `key.create`, `key.rotate` and `key.reveal`.
 *
 * Over HTTP the response is a `ControlReply`: `{"result": …}` or `{"error": …}`.
 */
import { z } from 'zod';
import type { AliasView, GroupView, KeyView } from './access-views.ts';
import type { ClearedCache } from './answer-cache.ts';
import type { AdoptedEntry } from './change-views.ts';
import {
  adoptedText,
  commandScope,
  displayName,
  expectedRevision,
  hasOneScope,
  secretValue,
  tooManyScopes,
} from './command-fields.ts';
import { aliasSchema, configSchema, groupSchema, idSchema, keySchema } from './config.ts';
import type { ErrorBody } from './errors.ts';
import { faultProfileNames, maxFaultMinutes, type TimedFaultsView } from './faults.ts';
import { limitsSchema } from './limit-settings.ts';
import { personId, personLimitsSchema, tokenScopes } from './people.ts';
import { longestNote } from './pins.ts';
import type { PriceRenewalView } from './price-views.ts';
import { type ProviderTrial, providerCommands } from './provider-commands.ts';
import type { CredentialView, ProviderView } from './provider-views.ts';
import type { PinView } from './request-views.ts';
import { settingsSchema } from './settings.ts';
import type { TimedCaptureView } from './status-views.ts';
import { type BegunJoin, type JoinState, writtenTeamPresetSchema } from './team-preset.ts';

const tokenId = z.string().regex(/^tok_[0-9a-f]{16}$/, 'use the id of an API token: tok_ and 16 hexadecimal digits');

/**
 * Commands about people who sign in, and their API tokens. All fail with `not_found` if sign-in is not set up.
 *
 * Members of `commandSchema`.
 */
const peopleCommands = [
  /** Creates a token for the person who sends the command. It has that person's rights, within its scopes. */
  z.strictObject({
    type: z.literal('token.create'),
    name: displayName,
    scopes: z.array(z.enum(tokenScopes)).min(1).max(tokenScopes.length),
    days: z.number().int().min(1).max(366).default(90),
  }),
  /** Revokes an own token; an administrator may also revoke those of others. */
  z.strictObject({ type: z.literal('token.revoke'), id: tokenId }),
  /** Ends all sessions and API tokens of a person, at once and everywhere. Keys keep working. */
  z.strictObject({ type: z.literal('person.sign-out'), id: personId }),
  /** Limits a person over all of their keys, in place of `people.personLimits`; null: as everybody. */
  z.strictObject({
    type: z.literal('person.limit'),
    id: personId,
    limits: personLimitsSchema.nullable(),
    expectedRevision,
  }),
  /** Ends all sessions and API tokens of a person, and revokes (or disables) all of their keys, everywhere. */
  z.strictObject({
    type: z.literal('person.revoke'),
    id: personId,
    keys: z.enum(['revoke', 'disable']).default('revoke'),
    expectedRevision,
  }),
  /** Makes the token of SCIM, by which the identity provider pushes people and groups. The one before ends at once. */
  z.strictObject({ type: z.literal('scim.token') }),
  /** Ends the token of SCIM. What was pushed counts no more, until there is a token again. */
  z.strictObject({ type: z.literal('scim.off') }),
] as const;

/** Members of `commandSchema`. */
const teamCommands = [
  /** Begins to join. Changes nothing yet: the person enters a code, and `team.finish-join` does the rest. */
  z.strictObject({ type: z.literal('team.join'), url: z.string().min(1).max(2_048) }),
  /**
   * Must be repeated until the person has approved it. It then creates a key for the person on the gateway and adds the
   * gateway as a provider. `group`: the key's group; absent: the only group in which the person may have a key.
   */
  z.strictObject({ type: z.literal('team.finish-join'), id: z.uuid(), group: idSchema.optional() }),
  /**
   * Reverts the join: removes the provider here, and the key and the sign-in there; leaves the gateway's team preset.
   */
  z.strictObject({ type: z.literal('team.leave'), provider: idSchema }),
] as const;

/**
 * Captures the requests of the next minutes: those of a group, of a key, or all. Ends by itself and when the program
 * ends. Starting it again restarts the time.
 */
const startCaptureSchema = z
  .strictObject({
    type: z.literal('capture.start'),
    minutes: z.number().int().min(1).max(60).default(10),
    /** The capture ends after this many requests, or after `minutes` if that is sooner. */
    requests: z.number().int().min(1).max(1_000).optional(),
    ...commandScope,
  })
  .refine(hasOneScope, tooManyScopes);

/** Ends the capture that `capture.start` began with the same group or key. */
const stopCaptureSchema = z
  .strictObject({ type: z.literal('capture.stop'), ...commandScope })
  .refine(hasOneScope, tooManyScopes);

/**
 * Applies faults on purpose to the requests of a key, or of all keys of a group. Requires exactly one of `profile` and
 * `rules`. Ends by itself and when the program ends; replaces what was started for the same key or group.
 */
const startFaultsSchema = z
  .strictObject({
    type: z.literal('faults.start'),
    ...commandScope,
    profile: z.enum(faultProfileNames).optional(),
    /**
     * Such as `cut;after=5;share=0.1;model=gpt-*`. A request meets the faults of all rules that apply, as far as they
     * can be combined.
     */
    rules: z.array(z.string().min(1).max(300)).min(1).max(50).optional(),
    minutes: z.number().int().min(1).max(maxFaultMinutes).default(10),
    /** The same seed leads to the same choices; absent: a random one. */
    seed: z.number().int().min(0).max(0x7fff_ffff).optional(),
  })
  .refine(({ group, key }) => (group === undefined) !== (key === undefined), {
    error: 'name a group or a key',
    path: ['key'],
  })
  .refine(({ profile, rules }) => (profile === undefined) !== (rules === undefined), {
    error: 'give a profile or rules',
    path: ['profile'],
  });

/** Ends what `faults.start` began with the same group or key; without either, ends all faults. */
const stopFaultsSchema = z
  .strictObject({ type: z.literal('faults.stop'), ...commandScope })
  .refine(hasOneScope, tooManyScopes);

/** Commands that stop and resume a session. */
export const sessionId = z
  .string()
  .regex(/^ses_[0-9a-f]{16}$/, 'use the id of a session: ses_ and 16 hexadecimal digits');

/** Refuses all further requests of a session with `session_stopped` until it is resumed, even after a restart. */
const stopSessionSchema = z.strictObject({ type: z.literal('session.stop'), id: sessionId });
/** Accepts its requests again. Its budget starts from zero. */
const resumeSessionSchema = z.strictObject({ type: z.literal('session.resume'), id: sessionId });

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
 * Sections such as `ledger` (see `settingSections`) are merged with the present values; everything else is replaced.
 * Validated together with the configuration.
 */
export type SettingsChanges = Partial<z.input<typeof settingsSchema>>;

const settingsChangesSchema = z.custom<SettingsChanges>(
  (value) =>
    typeof value === 'object' && value !== null && Object.keys(value).every((name) => name in settingsSchema.shape),
  `use an object with some of ${Object.keys(settingsSchema.shape).join(', ')}`,
);

/** How a client is to connect to Sluice. */
export const connectShape = {
  client: z.string().max(64),
  key: idSchema,
  model: z.string().trim().min(1).max(512),
  /** The key's secret, if Sluice did not keep it; used only for clients that read the key from their file. */
  secret: secretValue.optional(),
};

const requestId = z.string().max(100);

export const commandSchema = z.discriminatedUnion('type', [
  ...providerCommands,
  ...peopleCommands,
  ...teamCommands,
  z.strictObject({
    type: z.literal('key.create'),
    /** Absent: made from the name, or `key-1`, `key-2`, … */
    id: idSchema.optional(),
    name: displayName.optional(),
    group: idSchema.default('default'),
    /**
     * Whether the key belongs to the person who creates it, so that nobody else can show its secret. Absent: true if
     * that person may have no other keys in the group. Without sign-in, the key has no owner.
     */
    own: z.boolean().optional(),
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
   * Replaces the secret. The old one works for `graceHours` more; one that is left from an earlier rotation stops
   * working at once. `keepSecret` absent: as before.
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
  /**
   * Keeps a copy of a request that has ended, with its capture, until it is unpinned. Of one that is pinned already, only the
   * note changes. Secrets are removed from the note. Fails with `conflict` while the request runs, or if `mostPins` are pinned.
   */
  z.strictObject({
    type: z.literal('request.pin'),
    id: requestId,
    /** Absent: the note stays as it is. Empty: none. */
    note: z.string().trim().max(longestNote).optional(),
  }),
  /** Deletes the copy and the note. The request itself stays for as long as others of its age. */
  z.strictObject({ type: z.literal('request.unpin'), id: requestId }),
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
  /** Removes stored answers, of one group or of all. */
  z.strictObject({ type: z.literal('prices.check') }),
  /** Takes what waits into the price table; `plausible`: without what falls to 0 or changes more than fivefold. */
  z.strictObject({ type: z.literal('prices.apply'), which: z.enum(['plausible', 'all']) }),
  z.strictObject({ type: z.literal('cache.clear'), group: idSchema.optional() }),
  /**
   * Reopens cassettes of groups and keys, so that they start again with the first of several equal recordings and read
   * files that have changed: the cassette in this folder, or all.
   */
  z.strictObject({ type: z.literal('cassette.rewind'), folder: z.string().max(4_096).optional() }),
  /** Adds an alias, or replaces the one with that name. `key`: for this key alone, in place of the one for all. */
  z.strictObject({ type: z.literal('alias.put'), alias: aliasSchema, key: idSchema.optional(), expectedRevision }),
  /** `key`: the one of this key alone. */
  z.strictObject({ type: z.literal('alias.remove'), name: z.string(), key: idSchema.optional(), expectedRevision }),
  /** Takes effect at once, except for settings that need a restart (`settings-table.ts`). */
  z.strictObject({ type: z.literal('settings.update'), changes: settingsChangesSchema, expectedRevision }),
  /**
   * Replaces the whole configuration with an exported one. Stored secrets stay with the credentials and keys of the
   * same id. Those of removed entries, and of providers whose base URL changes, are deleted.
   */
  z.strictObject({ type: z.literal('config.import'), config: configSchema, expectedRevision }),
  /**
   * Adds the providers and aliases of another program's configuration, and puts its keys into the secret store. What is there
   * stays. `text`: the file, or links that a person pasted.
   */
  z.strictObject({ type: z.literal('config.adopt'), text: adoptedText, expectedRevision }),
  /**
   * Sets providers, aliases, groups and settings to what a preset declares; everything else stays. The preset is not
   * remembered and nothing is locked. Stored credentials of a provider whose base URL changes are deleted.
   */
  z.strictObject({ type: z.literal('config.apply'), preset: writtenTeamPresetSchema, expectedRevision }),
  /**
   * Merges a team preset into the configuration (see `mergeTeamPreset`). Stored credentials of a provider whose base
   * URL changes are deleted. A second imported preset replaces the first. `joined`: the provider (a team gateway) that
   * offered the preset; removing that provider also leaves the preset.
   */
  z.strictObject({
    type: z.literal('team-preset.apply'),
    preset: writtenTeamPresetSchema,
    joined: idSchema.optional(),
    expectedRevision,
  }),
  /** Unlocks what the imported preset has set; the values stay. A managed preset cannot be left. */
  z.strictObject({ type: z.literal('team-preset.leave') }),
  /**
   * Writes a client's configuration file as shown by `connect-preview`; `key`, `model` and `secret` as in that query.
   */
  z.strictObject({
    type: z.literal('connect.apply'),
    ...connectShape,
    fingerprint: z.string().max(100),
  }),
  /** Reverts that change as shown by `connect-undo-preview`. Later changes by others stay. */
  z.strictObject({
    type: z.literal('connect.undo'),
    client: connectShape.client,
    fingerprint: z.string().max(100),
  }),
  /** Creates an address that opens the window in a browser. It works once, within ten minutes. */
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

/** The revision that the command created. */
interface Committed {
  revision: number;
}

export interface CommandResults {
  'provider.add': Committed & { provider: ProviderView };
  'provider.try': ProviderTrial;
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
  /** `secret` is returned only here. */
  'token.create': { id: string; secret: string; expiresAt: number };
  'token.revoke': Record<string, never>;
  /** `ended`: the number of sessions and tokens. */
  'person.sign-out': { ended: number };
  'person.limit': Committed;
  /** `keys`: the ids of those that were revoked or disabled. */
  'person.revoke': Committed & { keys: readonly string[] };
  /** `secret` is returned only here. `url`: what to enter with it at the identity provider. */
  'scim.token': { secret: string; url: string };
  /** `ended`: whether it was on. */
  'scim.off': { ended: boolean };
  'session.stop': Record<string, never>;
  'session.resume': Record<string, never>;
  'request.pin': { pin: PinView };
  'request.unpin': Record<string, never>;
  'group.put': Committed & { group: GroupView };
  'group.remove': Committed;
  'prices.check': { renewal: PriceRenewalView };
  /** `applied`: the number of prices. */
  'prices.apply': { applied: number; renewal: PriceRenewalView };
  'cache.clear': ClearedCache;
  'cassette.rewind': Record<string, never>;
  'alias.put': Committed & { alias: AliasView };
  'alias.remove': Committed;
  'settings.update': Committed;
  /** `missingSecrets`: credentials, as `provider/credential`, whose secret must be entered again. */
  'config.import': Committed & { missingSecrets: string[] };
  /** `missingSecrets` as for `config.import`, for the added providers. */
  'config.adopt': Committed & { entries: AdoptedEntry[]; missingSecrets: string[] };
  /** `missingSecrets` as for `config.import`, for the preset's providers. */
  'config.apply': Committed & { missingSecrets: string[] };
  /** As for `config.apply`. */
  'team-preset.apply': Committed & { missingSecrets: string[] };
  'team-preset.leave': Record<string, never>;
  'connect.apply': Record<string, never>;
  'connect.undo': Record<string, never>;
  'team.join': BegunJoin;
  'team.finish-join': JoinState;
  /**
   * `keyEnded`: false if the person is no longer signed in there or the gateway could not be reached; the key can then
   * be revoked in the window there. `presetLeft`: the gateway's team preset was in force.
   */
  'team.leave': { keyEnded: boolean; presetLeft: boolean };
  'window.create-address': { url: string };
  /** `ended`: the number of browsers that were signed in. */
  'window.sign-out-everywhere': { ended: number };
}

export type CommandResult = CommandResults[CommandType];

/** The response of `/control/execute` and `/control/query`. */
export type ControlReply<Result> = { result: Result } | { error: ErrorBody };
