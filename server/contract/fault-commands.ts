/** Commands that switch faults on purpose on and off. */
import { z } from 'zod';
import { commandScope, hasOneScope, tooManyScopes } from './command-scope.ts';
import { faultProfileNames, maxFaultMinutes } from './faults.ts';

/**
 * Applies faults on purpose to the requests of a key, or of all keys of a group. Requires exactly one of `profile` and
 * `rules`. Ends by itself and when the program ends; replaces what was started for the same key or group.
 */
export const startFaultsSchema = z
  .strictObject({
    type: z.literal('faults.start'),
    ...commandScope,
    profile: z.enum(faultProfileNames).optional(),
    /**
     * Such as `cut;after=5;share=0.1;model=gpt-*`. A request meets the faults of all rules that apply, as far as they
     * can be combined.
     */
    rules: z.array(z.string().min(1).max(300)).min(1).max(50).optional(),
    minutes: z.number().int().min(1).max(maxFaultMinutes).default(10),
    /** The same seed leads to the same choices; absent: a random one. */
    seed: z.number().int().min(0).max(0x7fff_ffff).optional(),
  })
  .refine(({ group, key }) => (group === undefined) !== (key === undefined), {
    error: 'name a group or a key',
    path: ['key'],
  })
  .refine(({ profile, rules }) => (profile === undefined) !== (rules === undefined), {
    error: 'give a profile or rules',
    path: ['profile'],
  });

/** Ends what `faults.start` began with the same group or key; without either, ends all faults. */
export const stopFaultsSchema = z
  .strictObject({ type: z.literal('faults.stop'), ...commandScope })
  .refine(hasOneScope, tooManyScopes);
