/** The text format of the messages in which replicas share the health of providers. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { FailureClass } from '../../contract/ledger.ts';
import { cooldownRules } from '../../routing/health/cooldown-rules.ts';
import { type CoolingPlace, endpointKeyOf } from '../../routing/health/health-sharing.ts';

const isCooling = (failure: string): failure is FailureClass => Object.hasOwn(cooldownRules, failure);

const placeFields = {
  provider: z.string(),
  model: z.string().nullable(),
  subject: z.enum(['target', 'credential', 'credential-at-target']),
  credential: z.string(),
  /** See `fingerprintOf`. */
  print: z.string(),
};
const hintSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('cooling'),
    ...placeFields,
    failure: z.string().refine(isCooling),
    /** Unix milliseconds by Valkey's clock, like `untilMs`. */
    sinceMs: z.number(),
    /** Null if it lasts until a person acts. */
    untilMs: z.number().nullable(),
  }),
  z.object({ kind: z.literal('answering'), ...placeFields }),
  z.object({ kind: z.literal('reset'), provider: z.string(), credential: z.string().optional() }),
]);
export type Hint = z.infer<typeof hintSchema>;
export type CoolingHint = Extract<Hint, { kind: 'cooling' }>;
export type PlacedHint = Exclude<Hint, { kind: 'reset' }>;

/** Longer hints are neither sent nor read. */
const longest = 4_096;

export function writeHint(hint: Hint): string | null {
  const text = JSON.stringify(hint);
  return text.length > longest ? null : text;
}

/** Null for a format of another version of Sluice. */
export function readHint(text: string): Hint | null {
  if (text.length > longest) return null;
  try {
    return hintSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * A fingerprint that is equal on replicas with the same address, and the same credential if the cooldown is the
 * credential's: `env:` and `file:` may refer to different secrets on each machine. Too short to guess a secret from it.
 */
export function fingerprintOf({ provider, subject, credential }: CoolingPlace): string {
  const usedCredential = subject === 'target' ? undefined : provider.credentials.find(({ id }) => id === credential);
  return hash(
    'sha256',
    JSON.stringify([endpointKeyOf(provider), usedCredential?.headers, usedCredential?.signing?.secrets]),
  ).slice(0, 8);
}
