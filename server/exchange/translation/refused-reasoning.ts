/**
 * Tracks targets that refuse the reasoning in a conversation, because another account produced it or the client changed
 * the content that its signature covers. They are asked once more without it: the model's thoughts are lost, but no text.
 */

import type { Unsealed } from '../../apis/translation/returned-seals.ts';
import { withoutReasoning } from '../../apis/translation/translation-registry.ts';
import type { AttemptResult, FailedAttempt } from '../../routing/attempt-result.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { Sendable } from '../request/request-body.ts';

interface Refused {
  target: Target;
  result: FailedAttempt;
  /** The client's body; null if the request was rendered for the target, and will be rendered again. */
  clientBody: Sendable | null;
  /** The provider's name for it. */
  model: string;
  /** The client accepts that content is dropped. */
  mayBeAskedAgain: boolean;
}

export class RefusedReasoning {
  readonly #wire: string;
  readonly #targets = new Set<Target>();

  /** `wire`: the client's. */
  constructor(wire: string) {
    this.#wire = wire;
  }

  /** Whether the target has to be asked without reasoning. */
  isBy(target: Target): boolean {
    return this.#targets.has(target);
  }

  /** The body without reasoning, for a target that receives the client's own format; null if there is none. */
  async without({ bytes }: Sendable, model: string): Promise<Unsealed | null> {
    return bytes ? withoutReasoning(this.#wire, await bytes(), model) : null;
  }

  /** Keeps `refusesReasoning` in the result only once per target, and only if there is reasoning that may be dropped. */
  async noted({ target, result, clientBody, model, mayBeAskedAgain }: Refused): Promise<AttemptResult> {
    if (!result.failure.refusesReasoning) return result;
    const isNew = mayBeAskedAgain && !this.isBy(target);
    if (isNew && (clientBody === null || (await this.without(clientBody, model)))) {
      this.#targets.add(target);
      return result;
    }
    return { ...result, failure: { ...result.failure, refusesReasoning: false } };
  }
}
