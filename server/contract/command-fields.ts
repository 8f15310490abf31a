/** Fields that several commands share, and the scope of those that concern a group, a key, or all requests. */
import { z } from 'zod';
import { idSchema } from './config.ts';

/** The command fails with `conflict` if the configuration has another revision. Absent: any revision is accepted. */
export const expectedRevision = z.number().int().positive().optional();

export const displayName = z.string().trim().min(1).max(200);

/** The value of a new secret. Surrounding white space comes from copying and is removed. */
export const secretValue = z
  .string()
  .trim()
  .min(1)
  .max(16_384)
  .regex(/^[\x20-\x7e]*$/, 'a secret that goes into a header holds only printable ASCII characters');

/** Another program's configuration. It may hold keys, so it is never logged. */
export const adoptedText = z.string().max(4_000_000);

/** At most one of the two; with neither, all requests. */
export const commandScope = { group: idSchema.optional(), key: idSchema.optional() };

export const hasOneScope = ({ group, key }: { group?: string | undefined; key?: string | undefined }) =>
  group === undefined || key === undefined;
export const tooManyScopes = { error: 'name a group or a key, not both', path: ['key'] };
