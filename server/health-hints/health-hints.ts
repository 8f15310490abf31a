/**
 * Spares other replicas what one of them has learnt about a provider: they leave it alone as long as that one does, and ask it
 * again as soon as it answers one of them. Loaded only where replicas share counts.
 *
 * Only what an upstream says itself is told: a status of 429, 401 or 5xx holds for whoever asks. That it cannot be resolved, reached
 * or trusted, or is silent, may be the network of one replica, which must not take a provider away from all. Since an answer, too,
 * can be meant for one replica's address alone, a hint holds for a minute at most. Then a request sees for itself, and if it
 * succeeds, further hints about the same trouble are not heeded.
 */
import { cooldownRuleFor } from '../routing/health/cooldown-rules.ts';
import type { HealthBook } from '../routing/health/health-book.ts';
import type { Cooldown, CoolingPlace, HealthSharing } from '../routing/health/health-sharing.ts';
import { noCredential } from '../routing/health/provider-health.ts';
import type { CompiledProvider } from '../routing/snapshot.ts';
import { type CoolingHint, type Hint, type PlacedHint, printOf, readHint, writeHint } from './hint.ts';

interface HintPorts {
  book: Pick<HealthBook, 'heard' | 'heardAnswering' | 'forget'>;
  /** In the configuration in force. */
  provider(id: string): CompiledProvider | undefined;
  send(text: string): void;
  /** Unix milliseconds by a clock that all replicas share. */
  sharedMs(): number;
}

const longestHeardMs = 60_000;

export class HealthHints implements HealthSharing {
  readonly #ports: HintPorts;

  constructor(ports: HintPorts) {
    this.#ports = ports;
  }

  cooled(place: CoolingPlace, { failure, sinceAgoMs, forMs }: Cooldown): void {
    const nowMs = this.#ports.sharedMs();
    const untilMs = Number.isFinite(forMs) ? nowMs + forMs : null;
    this.#send({ kind: 'cooling', ...written(place), failure, sinceMs: nowMs - sinceAgoMs, untilMs });
  }

  answered(place: CoolingPlace): void {
    this.#send({ kind: 'answering', ...written(place) });
  }

  reset(provider: string, credential?: string): void {
    this.#send({ kind: 'reset', provider, ...(credential !== undefined && { credential }) });
  }

  /** Takes what another replica has sent. */
  take(text: string): void {
    const hint = readHint(text);
    if (hint?.kind === 'reset') this.#ports.book.forget(hint.provider, hint.credential);
    else if (hint) this.#takePlaced(hint);
  }

  #takePlaced(hint: PlacedHint): void {
    const place = this.#placeOf(hint);
    if (!place) return;
    if (hint.kind === 'answering') this.#ports.book.heardAnswering(place);
    else this.#takeCooling(place, hint);
  }

  #takeCooling(place: CoolingPlace, { failure, sinceMs, untilMs }: CoolingHint): void {
    const { book, sharedMs } = this.#ports;
    const rule = cooldownRuleFor(failure, place.subject === 'credential-at-target');
    if (rule?.subject !== place.subject) return;
    const nowMs = sharedMs();
    const longestMs = Math.min(longestHeardMs, Math.max(rule.longestMs, rule.longestToldMs ?? 0));
    const forMs = untilMs === null ? longestMs : Math.min(untilMs - nowMs, longestMs);
    if (forMs > 0) book.heard(place, { failure, sinceAgoMs: Math.max(0, nowMs - sinceMs), forMs });
  }

  /** Null: here it is something else, or nothing. */
  #placeOf({ provider: id, model, subject, credential, print }: PlacedHint): CoolingPlace | null {
    const provider = this.#ports.provider(id);
    if (!provider) return null;
    const isKnown = credential === noCredential || provider.credentials.some((each) => each.id === credential);
    const place = { provider, model, subject, credential };
    return isKnown && printOf(place) === print ? place : null;
  }

  #send(hint: Hint): void {
    const text = writeHint(hint);
    if (text !== null) this.#ports.send(text);
  }
}

function written(place: CoolingPlace) {
  const { provider, model, subject, credential } = place;
  return { provider: provider.id, model, subject, credential, print: printOf(place) };
}
