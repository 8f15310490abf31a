/**
 * Shares what one replica has learnt about a provider: the others avoid it as long as that replica does, and use it
 * again as soon as it answers one of them. Loaded only where replicas share counts.
 *
 * Only an upstream's own responses are shared: a status of 429, 401 or 5xx applies to every replica. If it cannot be
 * resolved, reached or trusted, or is silent, the cause may be one replica's network, which must not disable a provider
 * for all. Even a response can apply to one replica's address only, so a hint is valid for at most a minute. Then a
 * request tries the provider, and if it succeeds, further hints about the same failure are ignored.
 */

import { hash } from 'node:crypto';
import { z } from 'zod';
import type { FailureClass } from '../../contract/ledger.ts';
import { connectionFaults } from '../../contract/provider-views.ts';
import { cooldownRuleFor, cooldownRules } from '../../routing/health/cooldown-rules.ts';
import {
  type Cooldown,
  type CoolingPlace,
  endpointKeyOf,
  type HealthSharing,
  type HealthTracker,
} from '../../routing/health/health-tracker.ts';
import { noCredential } from '../../routing/health/provider-health.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';

interface HintPorts {
  book: Pick<HealthTracker, 'applyRemoteCooldown' | 'applyRemoteRecovery' | 'forget'>;
  /** The provider in the configuration in force. */
  provider(id: string): CompiledProvider | undefined;
  send(text: string): void;
  /** Unix milliseconds, by a clock that all replicas share. */
  sharedMs(): number;
}

const longestHintMs = 60_000;

export class HealthHints implements HealthSharing {
  readonly #ports: HintPorts;

  constructor(ports: HintPorts) {
    this.#ports = ports;
  }

  cooled(coolingPlace: CoolingPlace, { failure, failedWith, sinceAgoMs, forMs }: Cooldown): void {
    const nowMs = this.#ports.sharedMs();
    const untilMs = Number.isFinite(forMs) ? nowMs + forMs : null;
    const sinceMs = nowMs - sinceAgoMs;
    this.#send({ kind: 'cooling', ...hintFields(coolingPlace), failure, failedWith, sinceMs, untilMs });
  }

  answered(coolingPlace: CoolingPlace): void {
    this.#send({ kind: 'answering', ...hintFields(coolingPlace) });
  }

  reset(provider: string, credential?: string): void {
    this.#send({ kind: 'reset', provider, ...(credential !== undefined && { credential }) });
  }

  /** Processes a message from another replica. */
  take(text: string): void {
    const hint = readHint(text);
    if (hint?.kind === 'reset') this.#ports.book.forget(hint.provider, hint.credential);
    else if (hint) this.#takePlaced(hint);
  }

  #takePlaced(hint: PlacedHint): void {
    const coolingPlace = this.#coolingPlaceOf(hint);
    if (!coolingPlace) return;
    if (hint.kind === 'answering') this.#ports.book.applyRemoteRecovery(coolingPlace);
    else this.#takeCooling(coolingPlace, hint);
  }

  #takeCooling(coolingPlace: CoolingPlace, { failure, failedWith, sinceMs, untilMs }: CoolingHint): void {
    const { book, sharedMs } = this.#ports;
    const rule = cooldownRuleFor(failure, coolingPlace.subject === 'credential-at-target');
    if (rule?.subject !== coolingPlace.subject) return;
    const nowMs = sharedMs();
    const longestMs = Math.min(longestHintMs, Math.max(rule.longestMs, rule.longestRetryAfterMs ?? 0));
    const forMs = untilMs === null ? longestMs : Math.min(untilMs - nowMs, longestMs);
    const sinceAgoMs = Math.max(0, nowMs - sinceMs);
    if (forMs > 0) book.applyRemoteCooldown(coolingPlace, { failure, failedWith, sinceAgoMs, forMs });
  }

  /** Null if this replica has no such provider or credential, or a different one under the same id. */
  #coolingPlaceOf({ provider: id, model, subject, credential, print }: PlacedHint): CoolingPlace | null {
    const provider = this.#ports.provider(id);
    if (!provider) return null;
    const isKnown = credential === noCredential || provider.credentials.some((each) => each.id === credential);
    const coolingPlace = { provider, model, subject, credential };
    return isKnown && fingerprintOf(coolingPlace) === print ? coolingPlace : null;
  }

  #send(hint: Hint): void {
    const text = writeHint(hint);
    if (text !== null) this.#ports.send(text);
  }
}

function hintFields(coolingPlace: CoolingPlace) {
  const { provider, model, subject, credential } = coolingPlace;
  return { provider: provider.id, model, subject, credential, print: fingerprintOf(coolingPlace) };
}

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
    /** Null also from a replica of an earlier version. */
    failedWith: z
      .union([z.number(), z.enum(connectionFaults)])
      .nullable()
      .default(null),
    /** Unix milliseconds by Valkey's clock, like `untilMs`. */
    sinceMs: z.number(),
    /** Null if it lasts until a person acts. */
    untilMs: z.number().nullable(),
  }),
  z.object({ kind: z.literal('answering'), ...placeFields }),
  z.object({ kind: z.literal('reset'), provider: z.string(), credential: z.string().optional() }),
]);
type Hint = z.infer<typeof hintSchema>;
type CoolingHint = Extract<Hint, { kind: 'cooling' }>;
type PlacedHint = Exclude<Hint, { kind: 'reset' }>;

/** Longer hints are neither sent nor read. */
const longest = 4_096;

/** The text format of the messages in which replicas share the health of providers. */
function writeHint(hint: Hint): string | null {
  const text = JSON.stringify(hint);
  return text.length > longest ? null : text;
}

/** Null for a format of another version of Sluice. */
function readHint(text: string): Hint | null {
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
function fingerprintOf({ provider, subject, credential }: CoolingPlace): string {
  const usedCredential = subject === 'target' ? undefined : provider.credentials.find(({ id }) => id === credential);
  return hash(
    'sha256',
    JSON.stringify([endpointKeyOf(provider), usedCredential?.headers, usedCredential?.signing?.secrets]),
  ).slice(0, 8);
}
