/**
 * The queries about people who sign in, and their API tokens. Except for `who-am-i` and `join-preset` they fail with
 * `not_found` where people do not sign in.
 */
import { z } from 'zod';
import { personId } from './people.ts';

/** Members of `querySchema`. */
export const peopleQueries = [
  /** Who is signed in. */
  z.strictObject({ type: z.literal('who-am-i') }),
  /** The team preset for those who join this gateway. Fails with `invalid_value` if none could import it. */
  z.strictObject({ type: z.literal('join-preset') }),
  /** Everybody who has signed in, with their current rights. */
  z.strictObject({ type: z.literal('people') }),
  /** One's own API tokens; for an administrator, those of all. */
  z.strictObject({ type: z.literal('tokens') }),
  /** Who has changed what. */
  z.strictObject({
    type: z.literal('audit'),
    /** Of this person only; null: of the administrator of the machine. */
    personId: personId.nullable().optional(),
    limit: z.number().int().min(1).max(1_000).default(100),
    /** The `next` of the previous page. */
    before: z.number().int().optional(),
  }),
] as const;
