/**
 * Decides which targets may be asked after a request was too long for another one: all with a known larger context window,
 * and one with an unknown one, but never the same model again.
 */
import { isSameModel } from '../contract/model-identity.ts';
import type { Target } from './snapshot.ts';

interface TooSmall {
  model: string | null;
  /** Its context window; undefined: unknown. */
  tokens: number | undefined;
}

export class ContextLimits {
  readonly #tooSmall: TooSmall[] = [];
  #mayGuess = true;

  /** `statedTokens`: the limit named in the upstream's error. */
  wasTooSmall(target: Target, toldTokens: number | undefined): void {
    this.#tooSmall.push({ model: target.model, tokens: toldTokens ?? contextOf(target) });
  }

  mayTake(target: Target): boolean {
    return this.#tooSmall.length === 0 || this.#isLarger(target) || (this.#mayGuess && this.#mayBeLarger(target));
  }

  /** This target is asked. */
  asked(target: Target): void {
    if (this.#tooSmall.length > 0 && !this.#isLarger(target)) this.#mayGuess = false;
  }

  #isLarger(target: Target): boolean {
    const context = contextOf(target) ?? 0;
    const knownTokens = this.#tooSmall.flatMap(({ tokens }) => tokens ?? []);
    return knownTokens.length > 0 && knownTokens.every((tokens) => context > tokens);
  }

  #mayBeLarger(target: Target): boolean {
    const context = contextOf(target) ?? Number.POSITIVE_INFINITY;
    return this.#tooSmall.every(({ model, tokens }) => !isSameModel(model, target.model) && context > (tokens ?? 0));
  }
}

/** The target's context window, as configured or as listed by the provider. */
export function contextOf({ provider, model, contextTokens }: Target): number | undefined {
  const modelContext = model === null ? undefined : provider.models.get(model)?.contextTokens;
  return contextTokens ?? provider.contextTokens ?? modelContext;
}
