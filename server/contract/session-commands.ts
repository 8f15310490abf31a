/** The commands that stop and resume a session. */
import { z } from 'zod';

export const sessionId = z
  .string()
  .regex(/^ses_[0-9a-f]{16}$/, 'use the id of a session: ses_ and 16 hexadecimal digits');

/** Refuses all further requests of a session with `session_stopped`, also after a restart, until it is resumed. */
export const stopSessionSchema = z.strictObject({ type: z.literal('session.stop'), id: sessionId });
/** Serves its requests again, with a new budget. */
export const resumeSessionSchema = z.strictObject({ type: z.literal('session.resume'), id: sessionId });
