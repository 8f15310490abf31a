/** Commands for joining a team's gateway and leaving it. */
import { z } from 'zod';
import { idSchema } from './config.ts';

/** Members of `commandSchema`. */
export const teamCommands = [
  /** Begins to join. Changes nothing yet: the person enters a code, and `team.finish-join` does the rest. */
  z.strictObject({ type: z.literal('team.join'), url: z.string().min(1).max(2_048) }),
  /**
   * Must be repeated until the person has approved it. It then creates a key for the person on the gateway and adds the
   * gateway as a provider. `group`: the key's group; absent: the only group in which the person may have a key.
   */
  z.strictObject({ type: z.literal('team.finish-join'), id: z.uuid(), group: idSchema.optional() }),
  /**
   * Reverts the join: removes the provider here, and the key and the sign-in there; leaves the gateway's team preset.
   */
  z.strictObject({ type: z.literal('team.leave'), provider: idSchema }),
] as const;
