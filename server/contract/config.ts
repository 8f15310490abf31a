/**
 * The schema of the configuration, used for the stored `config.json` and for `serve --config FILE`.
 * `docs/config.schema.json` is generated from it.
 *
 * It holds no secrets: a credential or key has a *reference* to its secret (see `secretReference`).
 */
import { z } from 'zod';
import { cacheSchema } from './answer-cache.ts';
import { greatestWeight } from './bounds.ts';
import { cassetteSchema, keyCassetteSchema } from './cassette.ts';
import { limitsSchema } from './limit-settings.ts';
import { capabilities, passesThrough } from './operations.ts';
import { personId } from './people.ts';
import { policySchema, timeoutsSchema } from './policy.ts';
import { configVersion, migrateConfig } from './removed-features.ts';
import { settingsSchema } from './settings.ts';

/** The id of the built-in demo provider, which no configuration contains. */
export const demoProviderId = 'demo';

/** Safe in a URL, in a file name, and before the `/` of `provider/model`. */
export const idSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'use 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit');

/**
 * Where a secret is stored: `env:NAME`, `file:PATH`, or `keychain` for Sluice's own secret store (the OS keychain, or
 * an encrypted file if there is none).
 */
const secretReference = z
  .string()
  .regex(/^(env:.+|file:.+|keychain)$/s, 'use env:NAME, file:PATH or keychain; a secret itself never stands here');

export const credentialSchema = z.strictObject({
  id: idSchema.describe('Names it in commands, the window and the log.'),
  label: z.string().max(200).optional().describe('The name that people see.'),
  secret: secretReference
    .default('keychain')
    .describe('Where its value is: `env:NAME`, `file:PATH`, or `keychain` for Sluice’s own secret store.'),
  enabled: z.boolean().default(true).describe('Whether it is used.'),
});

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name');
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'not a header value');

export const dialectSchema = z.enum(['openai', 'azure', 'anthropic', 'gemini', 'bedrock', 'vertex']);

/** OpenAI's two conversation APIs: `POST /chat/completions` and `POST /responses`. */
export const conversationApiSchema = z.enum(['chat', 'responses']);

/** The size of a model's context window in tokens, output included. */
export const contextTokensSchema = z.number().int().positive().max(1_000_000_000);

/** Requests of other APIs are translated into the first one. */
export const servesSchema = z.array(conversationApiSchema).min(1).max(2);

/** A SHA-256 fingerprint as OpenSSL and browsers write it. */
export const certificateSchema = z
  .string()
  .regex(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/, 'not a SHA-256 fingerprint in the form AB:CD:…');

export const providerSchema = z.strictObject({
  id: idSchema.describe('Names it in commands, aliases and groups, and before the `/` of `provider/model`.'),
  name: z.string().min(1).max(200).optional().describe('The name that people see.'),
  preset: z.string().max(64).optional().describe('The preset it was made from; the window shows its name and hints.'),
  dialect: dialectSchema.default('openai').describe('The API that it speaks, and how it is addressed.'),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .describe('Includes the version segment, as the service documents it: `https://api.openai.com/v1`.'),
  credentials: z.array(credentialSchema).default([]).describe('Empty for local servers that require no key.'),
  headers: z
    .record(headerName, headerValue)
    .default({})
    .describe(
      "Sent with every request, overriding the client's headers. For organisation and project names, not for secrets.",
    ),
  enabled: z.boolean().default(true).describe('Whether it gets requests.'),
  models: z
    .union([z.literal('discover'), z.array(z.string().min(1).max(256))])
    .default('discover')
    .describe('The models it serves. `"discover"` polls its `/models`; in a list, `*` stands for any other name.'),
  timeouts: timeoutsSchema.default({}).describe('Override the defaults and those of the group’s policy.'),
  proxy: z
    .union([z.enum(['system', 'direct']), z.url({ protocol: /^https?$/ })])
    .default('system')
    .describe("`system`: as set by HTTPS_PROXY, HTTP_PROXY and NO_PROXY. `direct`: none. Otherwise the proxy's URL."),
  certificate: certificateSchema
    .optional()
    .describe(
      'The SHA-256 fingerprint of the certificate that is trusted for this provider alone, whoever issued it and for whichever name: `AB:CD:…`. Any other is then refused. Not for the addresses of known services.',
    ),
  apiVersion: z.string().max(64).optional().describe("Azure's `api-version` query parameter."),
  contextTokens: contextTokensSchema
    .optional()
    .describe(
      'The context window of all its models; overrides the sizes in its model list. Requests that are too long for a smaller model may go there.',
    ),
  askUsage: z
    .boolean()
    .default(true)
    .describe(
      'Request usage in chat streams even if the client did not, and remove it from the response. Turn it off for services that refuse `stream_options`.',
    ),
  serves: servesSchema
    .optional()
    .describe(
      "Which of OpenAI's conversation APIs the service has; requests of the other one are translated. Absent: as known for the preset's address; if unknown, requests of both are forwarded unchanged.",
    ),
  free: z
    .boolean()
    .optional()
    .describe(
      "Whether its models cost nothing, as those of a server of one's own. Absent: if it is a known local server at a loopback address. A price in `settings.prices` takes precedence, and models that Ollama runs in its cloud have no price.",
    ),
  joined: z
    .literal(true)
    .optional()
    .describe("Set for a team's gateway that this Sluice has joined. Leaving it revokes the key there as well."),
});

const aliasTargetSchema = z.strictObject({
  provider: idSchema.describe('The id of a provider.'),
  model: z.string().min(1).max(256).describe('The model’s name there.'),
  priority: z.number().int().min(0).max(greatestWeight).default(0).describe('Lower values are asked first.'),
  weight: z
    .number()
    .min(0)
    .max(greatestWeight)
    .default(1)
    .describe('Share of the requests among targets of equal priority; 0: only when the others fail.'),
  contextTokens: contextTokensSchema.optional().describe("Overrides the provider's value."),
});

export const aliasSchema = z.strictObject({
  name: z.string().min(1).max(256).describe('The model name that clients send.'),
  targets: z.array(aliasTargetSchema).min(1).max(64).describe('Who answers.'),
});

export const groupSchema = z.strictObject({
  id: idSchema.describe('Names it in keys, commands and the log.'),
  name: z.string().max(200).optional().describe('The name that people see.'),
  models: z
    .array(z.string().min(1).max(256))
    .default(['*'])
    .describe('Patterns of allowed model names, as clients write them; `*` matches any run of characters.'),
  deny: z
    .array(z.string().min(1).max(256))
    .default([])
    .describe(
      'Patterns of banned models; overrides `models`. They hold for what a provider would be asked for, in whatever form it is named; `provider/model` bans a model at one provider.',
    ),
  providers: z.array(z.string().min(1).max(64)).default(['*']).describe('Provider ids or patterns of them.'),
  order: z
    .array(
      z.strictObject({
        provider: idSchema.describe('The id of a provider.'),
        priority: z.number().int().min(0).max(greatestWeight).default(0).describe('Lower values are asked first.'),
        weight: z
          .number()
          .min(0)
          .max(greatestWeight)
          .default(1)
          .describe('Share of the requests among providers of equal priority.'),
      }),
    )
    .default([])
    .describe("The order of providers that serve the same model name. Others follow in the configuration's order."),
  defaults: z
    .partialRecord(z.enum(capabilities), z.string().min(1).max(256))
    .default({})
    .describe('By capability: the model for requests that name none.'),
  capture: z
    .boolean()
    .default(false)
    .describe(
      "Keep headers (without secrets) and bodies of this group's requests and responses, within `settings.capture`.",
    ),
  captureOnRequest: z
    .boolean()
    .default(true)
    .describe('Whether a client may have a request captured by sending `x-sluice-capture: on`.'),
  passthrough: idSchema
    .nullable()
    .optional()
    .describe(
      'The provider that receives paths that Sluice does not serve itself: files, batches, vector stores … `null`: none. Absent: none, except that the group `default` uses its only provider if there is just one besides the demo.',
    ),
  deleteUnknown: z
    .enum(['alone', 'allow', 'refuse'])
    .default('alone')
    .describe(
      'Whether its keys may delete what Sluice does not know, such as files that were uploaded elsewhere, at the `passthrough` provider. `alone`: as long as there is no other group.',
    ),
  policy: policySchema.prefault({}).describe('How its requests are attempted.'),
  limits: limitsSchema.optional().describe('Of all its keys together. Absent: none.'),
  unpriced: z
    .enum(['refuse', 'allow'])
    .default('refuse')
    .describe(
      'Whether models without a known price may be used while the group or key has a hard budget in dollars. With `allow`, their cost is not counted.',
    ),
  cache: cacheSchema.nullable().default(null).describe('Answer equal requests from memory. `null`: never.'),
  cassette: cassetteSchema
    .nullable()
    .default(null)
    .describe('Record its requests, or answer them from recordings. `null`: neither.'),
});

const keyHash = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'use sha256: and 64 hexadecimal digits');

export const keySchema = z.strictObject({
  id: idSchema.describe('Names it in commands and the log.'),
  name: z.string().max(200).optional().describe('The name that people see.'),
  group: idSchema.describe('The group it belongs to.'),
  owner: personId.optional().describe('The person who owns the key; absent if it has no owner.'),
  enabled: z.boolean().default(true).describe('Whether it is accepted.'),
  expiresAt: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('ISO 8601 with time zone; the key is refused from then on.'),
  models: z
    .array(z.string().min(1).max(256))
    .optional()
    .describe("Patterns that narrow the group's models. Absent: all models of the group."),
  aliases: z
    .array(aliasSchema)
    .max(64)
    .optional()
    .describe(
      'Aliases of this key alone, in place of those of the same name. Their targets are models that the key may name itself, or targets of the alias that they replace; others are not used.',
    ),
  limits: limitsSchema.optional().describe("In addition to the group's limits."),
  capture: z
    .boolean()
    .optional()
    .describe("Keep headers and bodies of this key's requests, like `capture` of a group."),
  faults: z
    .boolean()
    .optional()
    .describe('Whether a request may ask for a fault on purpose by sending `x-sluice-fault`.'),
  cassette: keyCassetteSchema.optional().describe("Overrides the group's; `off`: none even if the group has one."),
  createdAt: z.iso.datetime({ offset: true }).optional().describe('ISO 8601; set when it is created.'),
  hash: keyHash.optional().describe('`sha256:` followed by the hexadecimal SHA-256 of the secret.'),
  suffix: z
    .string()
    .length(4)
    .optional()
    .describe(
      'The last four characters of the secret, to recognise it by. Absent for keys made by earlier versions or by hand.',
    ),
  previous: z
    .strictObject({
      hash: keyHash.describe('As `hash` of the key.'),
      until: z.iso.datetime({ offset: true }).describe('When it ends.'),
    })
    .optional()
    .describe(
      'The secret before a rotation with a grace period: accepted before `until` (ISO 8601), and removed by a later change.',
    ),
  secret: secretReference
    .optional()
    .describe(
      'Replaces `hash` in a declarative file. In the stored configuration, `keychain` marks a key whose secret was kept.',
    ),
});

/** A configuration of the current version. */
export const currentConfigSchema = z
  .strictObject({
    $schema: z.string().optional().describe('The schema, for editors; ignored.'),
    version: z.literal(configVersion).describe('Of the format.'),
    providers: z.array(providerSchema).default([]).describe('The upstream services.'),
    aliases: z.array(aliasSchema).default([]).describe('Model names of one’s own.'),
    groups: z.array(groupSchema).default([]).describe('What keys may use, and how their requests are routed.'),
    keys: z.array(keySchema).default([]).describe('What clients present.'),
    settings: settingsSchema.prefault({}).describe('Of the whole program.'),
  })
  .superRefine((config, context) => {
    findContradictions(config, (path, message) => context.addIssue({ code: 'custom', path, message }));
  });

type WrittenConfig = Omit<z.input<typeof currentConfigSchema>, 'version'> & { version: 1 | typeof configVersion };

/** A configuration of any version so far, which becomes one of the current version. */
export const configSchema = z.preprocess((written: WrittenConfig) => {
  const migrated = migrateConfig(written);
  return migrated.kind === 'ready' ? migrated.value : written;
}, currentConfigSchema);

export type Config = z.infer<typeof configSchema>;
export type ConfigInput = z.input<typeof configSchema>;
export type ProviderConfig = z.infer<typeof providerSchema>;
export type CredentialConfig = z.infer<typeof credentialSchema>;
export type AliasConfig = z.infer<typeof aliasSchema>;
export type GroupConfig = z.infer<typeof groupSchema>;
export type KeyConfig = z.infer<typeof keySchema>;
export type ConversationApi = z.infer<typeof conversationApiSchema>;
export type DialectId = z.infer<typeof dialectSchema>;

/**
 * Reports contradictions between entries that are valid by themselves: duplicate names, and references to missing
 * entries.
 */
export function findContradictions(config: Config, issue: ReportIssue): void {
  findDuplicateNames(config, issue);
  findDanglingReferences(config, issue);
}

function findDuplicateNames({ providers, aliases, groups, keys }: Config, issue: ReportIssue): void {
  findDuplicates(providers, ['providers'], issue);
  findDuplicates(aliases, ['aliases'], issue);
  findDuplicates(groups, ['groups'], issue);
  findDuplicates(keys, ['keys'], issue);
  providers.forEach(({ credentials }, index) => {
    findDuplicates(credentials, ['providers', index, 'credentials'], issue);
  });
  keys.forEach(({ aliases: own }, index) => {
    if (own) findDuplicates(own, ['keys', index, 'aliases'], issue);
  });
}

function findDanglingReferences({ providers, aliases, groups, keys }: Config, issue: ReportIssue): void {
  groups.forEach(({ passthrough }, index) => {
    const problem = passthrough == null ? null : whyNoPassthrough(passthrough, providers);
    if (problem !== null) issue(['groups', index, 'passthrough'], problem);
  });
  const providerIds = new Set([...providers.map(({ id }) => id), demoProviderId]);
  const groupIds = new Set(groups.map(({ id }) => id));
  const findMissingProviders = (list: readonly AliasConfig[], at: PropertyKey[]) =>
    list.forEach(({ targets }, index) => {
      for (const { provider } of targets) {
        if (!providerIds.has(provider)) issue([...at, index, 'targets'], `there is no provider "${provider}"`);
      }
    });
  findMissingProviders(aliases, ['aliases']);
  keys.forEach(({ group, hash, secret, aliases: own }, index) => {
    if (own) findMissingProviders(own, ['keys', index, 'aliases']);
    if (!groupIds.has(group)) issue(['keys', index, 'group'], `there is no group "${group}"`);
    if (!hash && !secret) issue(['keys', index], 'a key needs "hash" or "secret"');
  });
}

/** Why a group cannot forward the requests that Sluice does not serve itself to this provider; null if it can. */
function whyNoPassthrough(id: string, providers: readonly ProviderConfig[]): string | null {
  if (id === demoProviderId) return 'the demo serves nothing that Sluice does not serve itself: name a real provider';
  const provider = providers.find((each) => each.id === id);
  if (!provider) return `there is no provider "${id}"`;
  if (passesThrough[provider.dialect]) return null;
  return `provider "${id}" speaks the dialect "${provider.dialect}", which has no passthrough paths: name another provider`;
}

/** Reports a problem in a configuration and its location. */
export type ReportIssue = (path: PropertyKey[], message: string) => void;

type Named = { id: string } | { name: string };

/** Reports entries of the list at `path` whose id or name occurs more than once. */
export function findDuplicates(list: readonly Named[], path: PropertyKey[], issue: ReportIssue): void {
  const seen = new Set<string>();
  list.forEach((each, index) => {
    const name = 'id' in each ? each.id : each.name;
    if (seen.has(name)) issue([...path, index], `"${name}" is there twice`);
    seen.add(name);
  });
}
