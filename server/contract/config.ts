/**
 * The shape of the configuration: what is stored in `config.json`, and what `serve --config FILE` reads.
 * One schema for both; the JSON Schema published in `docs/config.schema.json` is derived from it.
 *
 * Secrets are never in here: a credential or key holds a *reference* to its secret (see `secretReference`).
 */
import { z } from 'zod';

/** Newest version of the configuration's shape; older files are migrated on reading. */
export const CONFIG_VERSION = 1;

/** Lower-case letters, digits, `-`, `_`, `.`: safe in a URL, a file name and before the `/` of `provider/model`. */
export const idSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'use 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit');

/**
 * Where a secret's value is: `env:NAME`, `file:PATH`, or `keychain`, which means this program's own secret store
 * (the OS keychain, or the encrypted file where there is none).
 */
export const secretReference = z
  .string()
  .regex(/^(env:.+|file:.+|keychain)$/s, 'use env:NAME, file:PATH or keychain; a secret itself never stands here');

const milliseconds = z.number().int().positive().max(86_400_000);

/** Limits on the phases of one attempt, in milliseconds. */
export const timeoutsSchema = z.strictObject({
  /** To open a connection, TLS included. */
  connectMs: milliseconds.default(5_000),
  /** From the request's last byte to the reply's headers. Images, videos and reasoning models take minutes. */
  firstByteMs: milliseconds.default(600_000),
  /** Between two pieces of the reply. */
  idleMs: milliseconds.default(300_000),
  /** The whole attempt. Absent: no limit, since a long stream is no fault. */
  totalMs: milliseconds.optional(),
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
  timeouts: timeoutsSchema.partial().default({}),
  /** `system`: as HTTPS_PROXY/HTTP_PROXY/NO_PROXY say. `direct`: none. Else the proxy's URL. */
  proxy: z.union([z.enum(['system', 'direct']), z.url({ protocol: /^https?$/ })]).default('system'),
  /** Azure's `api-version` query parameter. */
  apiVersion: z.string().max(64).optional(),
  /** Ask for usage in chat streams where the client did not, and take it out again. Off where the service refuses `stream_options`. */
  askUsage: z.boolean().default(true),
});

export const aliasTargetSchema = z.strictObject({
  provider: idSchema,
  model: z.string().min(1).max(256),
  /** Lower goes first. */
  priority: z.number().int().min(0).max(1000).default(0),
  /** Share of the requests among targets of the same priority; 0 means only when the others fail. */
  weight: z.number().min(0).max(1000).default(1),
});

export const aliasSchema = z.strictObject({
  name: z.string().min(1).max(256),
  targets: z.array(aliasTargetSchema).min(1).max(64),
});

export const capabilities = [
  'chat',
  'completions',
  'responses',
  'embeddings',
  'moderations',
  'images',
  'transcription',
  'translation',
  'speech',
  'videos',
] as const;
export const capabilitySchema = z.enum(capabilities);

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
  defaults: z.partialRecord(capabilitySchema, z.string().min(1).max(256)).default({}),
  /** Keep request and reply bodies of this group (up to `settings.capture`). */
  capture: z.boolean().default(false),
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
  createdAt: z.iso.datetime({ offset: true }).optional(),
  /** `sha256:` and the hexadecimal SHA-256 of the secret. */
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'use sha256: and 64 hexadecimal digits')
    .optional(),
  /** In place of `hash` in a declarative file; in the stored configuration `keychain` marks a key that can be copied again. */
  secret: secretReference.optional(),
});

export const settingsSchema = z.strictObject({
  port: z.number().int().min(0).max(65_535).default(4810),
  host: z.string().min(1).default('127.0.0.1'),
  /** Names besides loopback that a request's Host header may bear. */
  allowedHosts: z.array(z.string().min(1)).default([]),
  /** Browser origins that may call `/v1`, such as `https://app.example`. */
  allowedOrigins: z.array(z.string().min(1)).default([]),
  /** The built-in demo provider: `auto` is on until the first provider is added. */
  demo: z.enum(['auto', 'on', 'off']).default('auto'),
  limits: z
    .strictObject({
      jsonBodyBytes: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024),
      multipartBodyBytes: z
        .number()
        .int()
        .positive()
        .default(512 * 1024 * 1024),
    })
    .prefault({}),
  /** Comments sent while an upstream's stream is silent, so that nothing between closes the connection. 0: none. */
  keepAliveCommentMs: z.number().int().min(0).default(0),
  ledger: z
    .strictObject({
      retentionDays: z.number().int().positive().default(90),
      retentionRows: z.number().int().positive().default(1_000_000),
    })
    .prefault({}),
  capture: z
    .strictObject({
      maxBytes: z
        .number()
        .int()
        .positive()
        .default(256 * 1024),
      retentionDays: z.number().int().positive().default(7),
    })
    .prefault({}),
  /** PEM files with more certificate authorities. */
  extraCaFiles: z.array(z.string().min(1)).default([]),
  /** Price overrides in US dollars; see `server/usage/prices.json` for the units. */
  prices: z.record(z.string(), z.record(z.string(), z.number().nonnegative())).default({}),
});

export const configSchema = z
  .strictObject({
    $schema: z.string().optional(),
    version: z.literal(CONFIG_VERSION),
    providers: z.array(providerSchema).default([]),
    aliases: z.array(aliasSchema).default([]),
    groups: z.array(groupSchema).default([]),
    keys: z.array(keySchema).default([]),
    settings: settingsSchema.prefault({}),
  })
  .superRefine((config, context) => {
    const issue = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
    const unique = (list: readonly string[], path: string) => {
      const seen = new Set<string>();
      list.forEach((id, index) => {
        if (seen.has(id)) issue([path, index], `"${id}" is there twice`);
        seen.add(id);
      });
      return seen;
    };
    const providers = unique(
      config.providers.map((provider) => provider.id),
      'providers',
    );
    const groups = unique(
      config.groups.map((group) => group.id),
      'groups',
    );
    unique(
      config.aliases.map((alias) => alias.name),
      'aliases',
    );
    unique(
      config.keys.map((key) => key.id),
      'keys',
    );
    config.providers.forEach((provider, index) => {
      const seen = new Set<string>();
      for (const credential of provider.credentials) {
        if (seen.has(credential.id)) issue(['providers', index, 'credentials'], `"${credential.id}" is there twice`);
        seen.add(credential.id);
      }
    });
    config.aliases.forEach((alias, index) => {
      for (const target of alias.targets) {
        if (!providers.has(target.provider) && target.provider !== 'demo') {
          issue(['aliases', index, 'targets'], `there is no provider "${target.provider}"`);
        }
      }
    });
    config.keys.forEach((key, index) => {
      if (!groups.has(key.group)) issue(['keys', index, 'group'], `there is no group "${key.group}"`);
      if (!key.hash && !key.secret) issue(['keys', index], 'a key needs "hash" or "secret"');
    });
  });

export type Config = z.infer<typeof configSchema>;
export type ConfigInput = z.input<typeof configSchema>;
export type ProviderConfig = z.infer<typeof providerSchema>;
export type CredentialConfig = z.infer<typeof credentialSchema>;
export type AliasConfig = z.infer<typeof aliasSchema>;
export type GroupConfig = z.infer<typeof groupSchema>;
export type KeyConfig = z.infer<typeof keySchema>;
export type Settings = z.infer<typeof settingsSchema>;
export type Timeouts = z.infer<typeof timeoutsSchema>;
export type Capability = z.infer<typeof capabilitySchema>;
export type DialectId = z.infer<typeof dialectSchema>;
