/** The commands that join a team's gateway, and leave it. */
import { z } from 'zod';
import { idSchema } from './config.ts';

/** Members of `commandSchema`. */
export const teamCommands = [
  /** Begins to join. Nothing is changed yet: the person enters a code, and `team.finish-join` does the rest. */
  z.strictObject({ type: z.literal('team.join'), url: z.string().min(1).max(2_048) }),
  /**
   * To be repeated until the person has agreed. Then it makes a key of theirs there, and adds the gateway as a provider. `group`: of
   * the key; absent: the only one in which the person may have one.
   */
  z.strictObject({ type: z.literal('team.finish-join'), id: z.uuid(), group: idSchema.optional() }),
  /** Undoes a join: removes the provider here, and the key and the sign-in there; leaves the gateway's team preset. */
  z.strictObject({ type: z.literal('team.leave'), provider: idSchema }),
] as const;
