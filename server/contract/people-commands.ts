/** The commands about people who sign in, and their API tokens. All fail with `not_found` where people do not sign in. */
import { z } from 'zod';
import { displayName } from './command-fields.ts';
import { personId, tokenScopes } from './people.ts';

const tokenId = z.string().regex(/^tok_[0-9a-f]{16}$/, 'use the id of an API token: tok_ and 16 hexadecimal digits');

/** Members of `commandSchema`. */
export const peopleCommands = [
  /** Creates a token for the caller. It has the caller's rights, within its scopes. */
  z.strictObject({
    type: z.literal('token.create'),
    name: displayName,
    scopes: z.array(z.enum(tokenScopes)).min(1).max(tokenScopes.length),
    days: z.number().int().min(1).max(366).default(90),
  }),
  /** One's own; an administrator also those of others. */
  z.strictObject({ type: z.literal('token.revoke'), id: tokenId }),
  /** Revokes all sessions and API tokens of a person, immediately and everywhere. Keys remain valid. */
  z.strictObject({ type: z.literal('person.sign-out'), id: personId }),
] as const;
