/**
 * Which targets may take a request whose context was too long for others. Known to be larger: all of them. Not known: one, once,
 * and never the same model, which would say the same.
 */
import type { Target } from './snapshot.ts';

interface TooSmall {
  model: string | null;
  /** Undefined: not known. */
  tokens: number | undefined;
}

export class ContextRoom {
  readonly #tooSmall: TooSmall[] = [];
  #mayGuess = true;

  /** `toldTokens`: what the upstream said that it takes. */
  wasTooSmall(target: Target, toldTokens: number | undefined): void {
    this.#tooSmall.push({ model: target.model, tokens: toldTokens ?? contextOf(target) });
  }

  mayTake(target: Target): boolean {
    return this.#tooSmall.length === 0 || this.#isLarger(target) || (this.#mayGuess && this.#mayBeLarger(target));
  }

  /** To be told of each target that is asked. */
  asked(target: Target): void {
    if (this.#tooSmall.length > 0 && !this.#isLarger(target)) this.#mayGuess = false;
  }

  #isLarger(target: Target): boolean {
    const context = contextOf(target) ?? 0;
    const known = this.#tooSmall.flatMap(({ tokens }) => tokens ?? []);
    return known.length > 0 && known.every((tokens) => context > tokens);
  }

  #mayBeLarger(target: Target): boolean {
    const context = contextOf(target) ?? Number.POSITIVE_INFINITY;
    return this.#tooSmall.every(({ model, tokens }) => !isSameModel(model, target.model) && context > (tokens ?? 0));
  }
}

/** How many tokens its model takes, where that is configured or the provider's list of models says so. */
function contextOf({ provider, model, contextTokens }: Target): number | undefined {
  const listed = model === null ? undefined : provider.models.get(model)?.contextTokens;
  return contextTokens ?? provider.contextTokens ?? listed;
}

/** At some providers the name of whoever made it stands before it: `openai/gpt-5`. */
function isSameModel(one: string | null, other: string | null): boolean {
  const [plain, otherPlain] = [one, other].map((name) => name?.slice(name.lastIndexOf('/') + 1).toLowerCase());
  return plain === otherPlain;
}
