/** The commands that capture requests for a while. */
import { z } from 'zod';
import { idSchema } from './config.ts';

const captureScope = { group: idSchema.optional(), key: idSchema.optional() };
const hasOneScope = ({ group, key }: { group?: string | undefined; key?: string | undefined }) =>
  group === undefined || key === undefined;
const tooManyScopes = { error: 'name a group or a key, not both', path: ['key'] };

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
    ...captureScope,
  })
  .refine(hasOneScope, tooManyScopes);

/** Ends what `capture.start` with the same group or key has begun. */
export const stopCaptureSchema = z
  .strictObject({ type: z.literal('capture.stop'), ...captureScope })
  .refine(hasOneScope, tooManyScopes);
