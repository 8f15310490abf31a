/** What providers say of their own rate limits in the headers of their answers. */
import { numberOf, resetIn } from '../../apis/core/errors/told-wait.ts';
import type { HeaderFields } from '../../apis/core/wire.ts';
import type { RemainingLimit } from '../../contract/panel-view.ts';

/** Of what services limit per minute, in the order in which it is shown where two are equally near. */
const kinds = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;

/**
 * How the headers of a kind are called: OpenAI's, which Groq, Azure and many others have, and Anthropic's
 * (docs.anthropic.com, "Rate limits"). OpenRouter's and the IETF draft's count requests without saying so.
 */
const families: readonly ((field: 'limit' | 'remaining' | 'reset', kind: (typeof kinds)[number]) => string | null)[] = [
  (field, kind) => `x-ratelimit-${field}-${kind}`,
  (field, kind) => `anthropic-ratelimit-${kind}-${field}`,
  (field, kind) => (kind === 'requests' ? `x-ratelimit-${field}` : null),
  (field, kind) => (kind === 'requests' ? `ratelimit-${field}` : null),
];

/** One of these is in every answer that tells anything. */
const telling = families.flatMap((nameOf) => [nameOf('remaining', 'requests'), nameOf('remaining', 'tokens')]);
const tellingNames = telling.filter((name) => name !== null);

/** Where no reset is told, a figure is taken for true as long as a minute's limit lasts. */
const usualMs = 60_000;

interface Told {
  credentialId: string | null;
  headers: HeaderFields;
  atMs: number;
}

/** Keeps the last of each credential. Nothing is read until it is asked for, since every answer passes here. */
export class ToldLimits {
  readonly #told = new Map<string, Told>();
  readonly #now: () => number;

  /** `now`: in Unix milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note(providerId: string, credentialId: string | null, headers: HeaderFields): void {
    for (const name of tellingNames) {
      if (headers[name] === undefined) continue;
      this.#told.set(`${providerId}/${credentialId ?? ''}`, { credentialId, headers, atMs: this.#now() });
      return;
    }
  }

  /** Those of the provider's credentials that still hold: of each, what is nearest to its end. */
  of(providerId: string, credentialIds: readonly (string | null)[]): RemainingLimit[] {
    return credentialIds.flatMap((id) => {
      const told = this.#told.get(`${providerId}/${id ?? ''}`);
      const nearest = told && nearestOf(told, this.#now());
      return nearest ? [nearest] : [];
    });
  }
}

function nearestOf({ credentialId, headers, atMs }: Told, nowMs: number): RemainingLimit | null {
  const limits = kinds.flatMap((kind) =>
    families.flatMap((nameOf) => {
      const read = (field: 'limit' | 'remaining') => numberIn(headers, nameOf(field, kind));
      const remaining = read('remaining');
      if (remaining === null) return [];
      const reset = textIn(headers, nameOf('reset', kind));
      const resetMs = reset === null ? null : resetIn(reset, atMs);
      const untilMs = atMs + (resetMs ?? usualMs);
      if (untilMs <= nowMs) return [];
      return [{ credentialId, kind, remaining, limit: read('limit'), resetsAt: resetMs === null ? null : untilMs }];
    }),
  );
  const shareOf = ({ remaining, limit }: RemainingLimit) => (limit ? remaining / limit : 1);
  return limits.sort((one, other) => shareOf(one) - shareOf(other))[0] ?? null;
}

function textIn(headers: HeaderFields, name: string | null): string | null {
  const value = name === null ? undefined : headers[name];
  return typeof value === 'string' && value.trim() !== '' && value.length < 100 ? value.trim() : null;
}

function numberIn(headers: HeaderFields, name: string | null): number | null {
  const text = textIn(headers, name);
  return text === null ? null : numberOf(text);
}
