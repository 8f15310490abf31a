/**
 * The shape of the configuration: what is stored in `config.json`, and what `serve --config FILE` reads.
 * One schema for both; the JSON Schema published in `docs/config.schema.json` is derived from it.
 *
 * Secrets are never in here: a credential or key holds a *reference* to its secret (see `secretReference`).
 */
import { z } from 'zod';
import { capabilities } from './capability.ts';
import { findDoubles, type TellIssue } from './find-doubles.ts';
import { passesThrough } from './passthrough.ts';
import { policySchema, timeoutsSchema } from './policy.ts';
import { writtenSettingsSchema } from './written-settings.ts';

/** The built-in demo provider, which is in no configuration. */
export const demoProviderId = 'demo';

/** Newest version of the configuration's shape; older files are migrated on reading. */
export const configVersion = 1;

/** Lower-case letters, digits, `-`, `_`, `.`: safe in a URL, a file name and before the `/` of `provider/model`. */
export const idSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'use 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit');

/**
 * Where a secret's value is: `env:NAME`, `file:PATH`, or `keychain`, which means this program's own secret store
 * (the OS keychain, or the encrypted file where there is none).
 */
const secretReference = z
  .string()
  .regex(/^(env:.+|file:.+|keychain)$/s, 'use env:NAME, file:PATH or keychain; a secret itself never stands here');

const budgetSchema = z.strictObject({
  unit: z.enum(['usd', 'tokens']),
  amount: z.number().positive(),
  /** Days, weeks (from Monday) and months of local time. */
  per: z.enum(['day', 'week', 'month', 'total']),
  /** Refuse requests once it is spent; else only tell. */
  hard: z.boolean().default(true),
});

/** What a key, or all keys of a group together, may use. What is absent is not limited. */
export const limitsSchema = z.strictObject({
  requestsPerMinute: z.number().int().positive().optional(),
  /** Input and output. */
  tokensPerMinute: z.number().int().positive().optional(),
  /** Requests that run at the same time. */
  concurrent: z.number().int().positive().optional(),
  budgets: z.array(budgetSchema).max(16).default([]),
});

export const credentialSchema = z.strictObject({
  id: idSchema,
  label: z.string().max(200).optional(),
  secret: secretReference.default('keychain'),
  enabled: z.boolean().default(true),
});

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name');
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'not a header value');

export const dialectSchema = z.enum(['openai', 'azure']);

/** How many tokens a model takes, what it answers included. */
export const contextTokensSchema = z.number().int().positive().max(1_000_000_000);

export const providerSchema = z.strictObject({
  id: idSchema,
  name: z.string().min(1).max(200).optional(),
  /** The preset it was made from; the window shows its name and hints. */
  preset: z.string().max(64).optional(),
  dialect: dialectSchema.default('openai'),
  /** With its version segment, as the service documents it: `https://api.openai.com/v1`. */
  baseUrl: z.url({ protocol: /^https?$/ }),
  /** None is right for local servers that ask for no key. */
  credentials: z.array(credentialSchema).default([]),
  /** Sent with every request, over what the client sent. For organisation and project names, not for secrets. */
  headers: z.record(headerName, headerValue).default({}),
  enabled: z.boolean().default(true),
  /**
   * What it serves: `"discover"` (ask its `/models` now and then), or names, of which `*` means any name besides.
   */
  models: z.union([z.literal('discover'), z.array(z.string().min(1).max(256))]).default('discover'),
  timeouts: timeoutsSchema.default({}),
  /** `system`: as HTTPS_PROXY/HTTP_PROXY/NO_PROXY say. `direct`: none. Else the proxy's URL. */
  proxy: z.union([z.enum(['system', 'direct']), z.url({ protocol: /^https?$/ })]).default('system'),
  /** Azure's `api-version` query parameter. */
  apiVersion: z.string().max(64).optional(),
  /** Of each of its models, over what its list of models says: a request that was too long for less goes there. */
  contextTokens: contextTokensSchema.optional(),
  /** Ask for usage in chat streams where the client did not, and take it out again. Off where the service refuses `stream_options`. */
  askUsage: z.boolean().default(true),
});

const aliasTargetSchema = z.strictObject({
  provider: idSchema,
  model: z.string().min(1).max(256),
  /** Lower goes first. */
  priority: z.number().int().min(0).max(1000).default(0),
  /** Share of the requests among targets of the same priority; 0 means only when the others fail. */
  weight: z.number().min(0).max(1000).default(1),
  /** Of this model, over what the provider says. */
  contextTokens: contextTokensSchema.optional(),
});

export const aliasSchema = z.strictObject({
  name: z.string().min(1).max(256),
  targets: z.array(aliasTargetSchema).min(1).max(64),
});

export const groupSchema = z.strictObject({
  id: idSchema,
  name: z.string().max(200).optional(),
  /** Patterns of model names that are allowed; `*` stands for any run of characters. */
  models: z.array(z.string().min(1).max(256)).default(['*']),
  /** Patterns of model names that are refused, whatever `models` says. */
  deny: z.array(z.string().min(1).max(256)).default([]),
  /** Provider ids, or patterns of them. */
  providers: z.array(z.string().min(1).max(64)).default(['*']),
  /** Order among the providers that serve the same model name. A provider not named here comes after, in the order of the configuration. */
  order: z
    .array(
      z.strictObject({
        provider: idSchema,
        priority: z.number().int().min(0).max(1000).default(0),
        weight: z.number().min(0).max(1000).default(1),
      }),
    )
    .default([]),
  /** The model of a request that names none, by capability. */
  defaults: z.partialRecord(z.enum(capabilities), z.string().min(1).max(256)).default({}),
  /** Keep headers, without what is secret, and bodies of this group's requests and replies (up to `settings.capture`). */
  capture: z.boolean().default(false),
  /**
   * The provider that answers, as it is asked, what Sluice does not serve itself: files, batches, vector stores … `null`: none.
   * Absent: none; of the group `default` its only provider, if there is just one besides the demo.
   */
  passthrough: idSchema.nullable().optional(),
  policy: policySchema.prefault({}),
  limits: limitsSchema.optional(),
  /**
   * Where a hard budget in dollars holds for the group or for the key: whether models may be used whose price is not known.
   * `allow`: what they cost is not counted.
   */
  unpriced: z.enum(['refuse', 'allow']).default('refuse'),
});

export const keySchema = z.strictObject({
  id: idSchema,
  name: z.string().max(200).optional(),
  group: idSchema,
  enabled: z.boolean().default(true),
  /** ISO 8601 with time zone; from then on the key is refused. */
  expiresAt: z.iso.datetime({ offset: true }).optional(),
  /** Patterns; within the group's models. Absent: all that the group allows. */
  models: z.array(z.string().min(1).max(256)).optional(),
  /** Besides those of the group. */
  limits: limitsSchema.optional(),
  createdAt: z.iso.datetime({ offset: true }).optional(),
  /** `sha256:` and the hexadecimal SHA-256 of the secret. */
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'use sha256: and 64 hexadecimal digits')
    .optional(),
  /** In place of `hash` in a declarative file; in the stored configuration `keychain` marks a key that can be copied again. */
  secret: secretReference.optional(),
});

export const configSchema = z
  .strictObject({
    $schema: z.string().optional(),
    version: z.literal(configVersion),
    providers: z.array(providerSchema).default([]),
    aliases: z.array(aliasSchema).default([]),
    groups: z.array(groupSchema).default([]),
    keys: z.array(keySchema).default([]),
    settings: writtenSettingsSchema.prefault({}),
  })
  .superRefine((config, context) => {
    const issue: TellIssue = (path, message) => context.addIssue({ code: 'custom', path, message });
    findDoubleNames(config, issue);
    findWhatLeadsNowhere(config, issue);
  });

export type Config = z.infer<typeof configSchema>;
export type ConfigInput = z.input<typeof configSchema>;
export type ProviderConfig = z.infer<typeof providerSchema>;
export type CredentialConfig = z.infer<typeof credentialSchema>;
export type AliasConfig = z.infer<typeof aliasSchema>;
export type GroupConfig = z.infer<typeof groupSchema>;
export type KeyConfig = z.infer<typeof keySchema>;
export type Limits = z.infer<typeof limitsSchema>;
export type Budget = z.infer<typeof budgetSchema>;
export type DialectId = z.infer<typeof dialectSchema>;

function findDoubleNames({ providers, aliases, groups, keys }: Config, issue: TellIssue): void {
  findDoubles(providers, ['providers'], issue);
  findDoubles(aliases, ['aliases'], issue);
  findDoubles(groups, ['groups'], issue);
  findDoubles(keys, ['keys'], issue);
  providers.forEach(({ credentials }, index) => {
    findDoubles(credentials, ['providers', index, 'credentials'], issue);
  });
}

function findWhatLeadsNowhere({ providers, aliases, groups, keys }: Config, issue: TellIssue): void {
  groups.forEach(({ passthrough }, index) => {
    const why = passthrough == null ? null : whyNoPassthrough(passthrough, providers);
    if (why !== null) issue(['groups', index, 'passthrough'], why);
  });
  const providerIds = new Set([...providers.map(({ id }) => id), demoProviderId]);
  const groupIds = new Set(groups.map(({ id }) => id));
  aliases.forEach(({ targets }, index) => {
    for (const { provider } of targets) {
      if (!providerIds.has(provider)) issue(['aliases', index, 'targets'], `there is no provider "${provider}"`);
    }
  });
  keys.forEach(({ group, hash, secret }, index) => {
    if (!groupIds.has(group)) issue(['keys', index, 'group'], `there is no group "${group}"`);
    if (!hash && !secret) issue(['keys', index], 'a key needs "hash" or "secret"');
  });
}

/** Why a group cannot hand on to that provider what Sluice does not serve itself; null if it can. */
function whyNoPassthrough(id: string, providers: readonly ProviderConfig[]): string | null {
  if (id === demoProviderId) return 'the demo serves nothing that Sluice does not serve itself: name a real provider';
  const provider = providers.find((each) => each.id === id);
  if (!provider) return `there is no provider "${id}"`;
  if (passesThrough[provider.dialect]) return null;
  return `provider "${id}" speaks the dialect "${provider.dialect}", which has no such paths: name one that speaks OpenAI's API`;
}
