/**
 * Shares what one replica has learnt about a provider: the others avoid it as long as that replica does, and use it
 * again as soon as it answers one of them. Loaded only where replicas share counts.
 *
 * Only an upstream's own responses are shared: a status of 429, 401 or 5xx applies to every replica. If it cannot be
 * resolved, reached or trusted, or is silent, the cause may be one replica's network, which must not disable a provider
 * for all. Even a response can apply to one replica's address only, so a hint is valid for at most a minute. Then a
 * request tries the provider, and if it succeeds, further hints about the same failure are ignored.
 */
import { cooldownRuleFor } from '../../routing/health/cooldown-rules.ts';
import type { Cooldown, CoolingPlace, HealthSharing } from '../../routing/health/health-sharing.ts';
import type { HealthTracker } from '../../routing/health/health-tracker.ts';
import { noCredential } from '../../routing/health/provider-health.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';
import { type CoolingHint, fingerprintOf, type Hint, type PlacedHint, readHint, writeHint } from './hint.ts';

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

  cooled(coolingPlace: CoolingPlace, { failure, sinceAgoMs, forMs }: Cooldown): void {
    const nowMs = this.#ports.sharedMs();
    const untilMs = Number.isFinite(forMs) ? nowMs + forMs : null;
    this.#send({ kind: 'cooling', ...hintFields(coolingPlace), failure, sinceMs: nowMs - sinceAgoMs, untilMs });
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

  #takeCooling(coolingPlace: CoolingPlace, { failure, sinceMs, untilMs }: CoolingHint): void {
    const { book, sharedMs } = this.#ports;
    const rule = cooldownRuleFor(failure, coolingPlace.subject === 'credential-at-target');
    if (rule?.subject !== coolingPlace.subject) return;
    const nowMs = sharedMs();
    const longestMs = Math.min(longestHintMs, Math.max(rule.longestMs, rule.longestRetryAfterMs ?? 0));
    const forMs = untilMs === null ? longestMs : Math.min(untilMs - nowMs, longestMs);
    if (forMs > 0) book.applyRemoteCooldown(coolingPlace, { failure, sinceAgoMs: Math.max(0, nowMs - sinceMs), forMs });
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
