/**
 * Queries about people who sign in, and their API tokens. All except `who-am-i` and `join-preset` fail with `not_found`
 * if sign-in is not set up.
 */
import { z } from 'zod';
import { personId } from './people.ts';

/** Members of `querySchema`. */
export const peopleQueries = [
  /** The signed-in person. */
  z.strictObject({ type: z.literal('who-am-i') }),
  /** The team preset offered to those who join this gateway. Fails with `invalid_value` if it cannot be imported. */
  z.strictObject({ type: z.literal('join-preset') }),
  /** All people who have signed in, with their present rights. */
  z.strictObject({ type: z.literal('people') }),
  /** The caller's API tokens; for an administrator, those of all people. */
  z.strictObject({ type: z.literal('tokens') }),
  /** The audit list: who changed what. */
  z.strictObject({
    type: z.literal('audit'),
    /** Only changes by this person; null: by the administrator of the machine. */
    personId: personId.nullable().optional(),
    limit: z.number().int().min(1).max(1_000).default(100),
    /** The `next` of the previous page. */
    before: z.number().int().optional(),
  }),
] as const;
