/** Commands about people who sign in, and their API tokens. All fail with `not_found` if sign-in is not set up. */
import { z } from 'zod';
import { displayName, expectedRevision } from './command-fields.ts';
import { personId, tokenScopes } from './people.ts';

const tokenId = z.string().regex(/^tok_[0-9a-f]{16}$/, 'use the id of an API token: tok_ and 16 hexadecimal digits');

/** Members of `commandSchema`. */
export const peopleCommands = [
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
  /** Ends all sessions and API tokens of a person, and revokes (or disables) all of their keys, everywhere. */
  z.strictObject({
    type: z.literal('person.revoke'),
    id: personId,
    keys: z.enum(['revoke', 'disable']).default('revoke'),
    expectedRevision,
  }),
] as const;
