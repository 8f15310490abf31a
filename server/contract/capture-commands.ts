/** The commands that capture requests for a while. */
import { z } from 'zod';
import { commandScope, hasOneScope, tooManyScopes } from './command-scope.ts';

/**
 * Captures the requests of the next minutes: of a group, of a key, or all. Ends by itself and with the program; started again,
 * it ends that much later from then on.
 */
export const startCaptureSchema = z
  .strictObject({
    type: z.literal('capture.start'),
    minutes: z.number().int().min(1).max(60).default(10),
    /** It ends after so many requests, if not before. */
    requests: z.number().int().min(1).max(1_000).optional(),
    ...commandScope,
  })
  .refine(hasOneScope, tooManyScopes);

/** Ends what `capture.start` with the same group or key has begun. */
export const stopCaptureSchema = z
  .strictObject({ type: z.literal('capture.stop'), ...commandScope })
  .refine(hasOneScope, tooManyScopes);
