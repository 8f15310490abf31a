/** Commands that capture requests for a limited time. */
import { z } from 'zod';
import { commandScope, hasOneScope, tooManyScopes } from './command-scope.ts';

/**
 * Captures the requests of the next minutes: those of a group, of a key, or all. Ends by itself and when the program
 * ends. Starting it again restarts the time.
 */
export const startCaptureSchema = z
  .strictObject({
    type: z.literal('capture.start'),
    minutes: z.number().int().min(1).max(60).default(10),
    /** The capture ends after this many requests, or after `minutes` if that is sooner. */
    requests: z.number().int().min(1).max(1_000).optional(),
    ...commandScope,
  })
  .refine(hasOneScope, tooManyScopes);

/** Ends the capture that `capture.start` began with the same group or key. */
export const stopCaptureSchema = z
  .strictObject({ type: z.literal('capture.stop'), ...commandScope })
  .refine(hasOneScope, tooManyScopes);
