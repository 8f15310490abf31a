/** Commands that change providers and their credentials. */
import { z } from 'zod';
import { cleanBaseUrl } from './address.ts';
import { displayName, expectedRevision, secretValue } from './command-fields.ts';
import {
  certificateSchema,
  contextTokensSchema,
  credentialSchema,
  type DialectId,
  idSchema,
  providerSchema,
  servesSchema,
} from './config.ts';
import type { ProbeReport } from './probe.ts';

const isGiven = (value: string | undefined) => value !== undefined;

const reference = z
  .string()
  .regex(/^(env|file):.+$/s, 'use env:NAME or file:PATH')
  .optional();
const providerShape = providerSchema.shape;

/** The properties of a provider that can be changed; null removes an optional one. */
const providerChangesSchema = z
  .strictObject({
    name: displayName.nullable(),
    preset: z.string().max(64).nullable(),
    dialect: providerShape.dialect.unwrap(),
    /** May be the address of a call or lack its scheme, as people paste it. */
    baseUrl: z.string().transform(cleanBaseUrl).pipe(providerShape.baseUrl),
    headers: providerShape.headers.unwrap(),
    enabled: z.boolean(),
    models: providerShape.models.unwrap(),
    timeouts: providerShape.timeouts.unwrap(),
    proxy: providerShape.proxy.unwrap(),
    certificate: certificateSchema.nullable(),
    apiVersion: z.string().max(64).nullable(),
    contextTokens: contextTokensSchema.nullable(),
    askUsage: z.boolean(),
    serves: servesSchema.nullable(),
    free: z.boolean().nullable(),
    joined: z.literal(true),
  })
  .partial();

/**
 * A credential, given in one of three ways: the `secret` itself, which is put into the secret store; a `reference` to
 * it; or the name of an environment `variable` of Sluice, whose present value is copied into the secret store.
 */
const newCredentialSchema = z
  .strictObject({
    /** Absent: made from the label, or `c1`, `c2`, … */
    id: idSchema.optional(),
    label: credentialSchema.shape.label,
    secret: secretValue.optional(),
    /** `env:NAME` or `file:PATH`. */
    reference,
    variable: z.string().min(1).max(256).optional(),
    enabled: z.boolean().default(true),
  })
  .refine(({ secret, reference, variable }) => [secret, reference, variable].filter(isGiven).length === 1, {
    message: 'give one of the secret, a reference to it, and a variable that holds it',
  });

/** Members of `commandSchema`. */
export const providerCommands = [
  /** With `preset`, absent properties are taken from the preset; without it, `baseUrl` is required. */
  z.strictObject({
    type: z.literal('provider.add'),
    /** Absent: made from the name, the preset or the host. */
    id: idSchema.optional(),
    provider: providerChangesSchema,
    credentials: z.array(newCredentialSchema).max(100).default([]),
    expectedRevision,
  }),
  /**
   * Tests what `provider.add` would add, and adds nothing. With `address`, as a person pastes it, it also finds out which API
   * the service speaks, unless `provider` has the preset or the dialect.
   */
  z.strictObject({
    type: z.literal('provider.try'),
    provider: providerChangesSchema,
    address: z.string().min(1).max(2_048).optional(),
    credentials: z.array(newCredentialSchema).max(100).default([]),
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
  /** Fetches the provider's models now. A failure is reported in the view's `discovery.problem`. */
  z.strictObject({ type: z.literal('provider.refresh-models'), id: idSchema }),
  /**
   * Ends all cooldowns of the provider and unblocks refused credentials; with `credential`, only those of that
   * credential.
   */
  z.strictObject({ type: z.literal('provider.reset-health'), id: idSchema, credential: idSchema.optional() }),
  /** Adds a credential, or changes the one with that id; absent properties stay as they are. */
  z.strictObject({
    type: z.literal('credential.set'),
    provider: idSchema,
    id: idSchema.optional(),
    label: z.string().max(200).nullable().optional(),
    secret: secretValue.optional(),
    reference,
    enabled: z.boolean().optional(),
    expectedRevision,
  }),
  z.strictObject({ type: z.literal('credential.remove'), provider: idSchema, id: idSchema, expectedRevision }),
] as const;

export type ProviderChanges = z.infer<typeof providerChangesSchema>;
export type NewCredential = z.infer<typeof newCredentialSchema>;

/** A service that was tested before it is added. */
export interface ProviderTrial {
  /** The properties with which it was tested, and should be added. */
  provider: ProviderChanges & { baseUrl: string; dialect: DialectId };
  /** Whether its API was found by asking for it. */
  isFound: boolean;
  report: ProbeReport;
}
