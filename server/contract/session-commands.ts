/** Commands that stop and resume a session. */
import { z } from 'zod';

export const sessionId = z
  .string()
  .regex(/^ses_[0-9a-f]{16}$/, 'use the id of a session: ses_ and 16 hexadecimal digits');

/** Refuses all further requests of a session with `session_stopped` until it is resumed, even after a restart. */
export const stopSessionSchema = z.strictObject({ type: z.literal('session.stop'), id: sessionId });
/** Accepts its requests again. Its budget starts from zero. */
export const resumeSessionSchema = z.strictObject({ type: z.literal('session.resume'), id: sessionId });
