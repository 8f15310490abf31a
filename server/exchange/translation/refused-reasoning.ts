/**
 * Tracks targets that refuse the reasoning in a conversation, because another account produced it or the client changed
 * the content that its signature covers. They are asked once more without it: the model's thoughts are lost, but no text.
 */

import { withoutReasoning } from '../../apis/translation/translation-registry.ts';
import type { AttemptResult, FailedAttempt } from '../../routing/attempt-result.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { Sendable } from '../request/request-body.ts';

interface Refused {
  target: Target;
  result: FailedAttempt;
  /** The client's body; null if the request was rendered for the target, and will be rendered again. */
  clientBody: Sendable | null;
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

  /** Removes reasoning from the body, for a target that receives the client's own format. */
  async without<T extends Sendable>(sendable: T): Promise<T> {
    const body = sendable.bytes ? withoutReasoning(this.#wire, await sendable.bytes()) : null;
    return body ? { ...sendable, length: body.length, open: () => body } : sendable;
  }

  /** Keeps `refusesReasoning` in the result only once per target, and only if there is reasoning that may be dropped. */
  async noted({ target, result, clientBody, mayBeAskedAgain }: Refused): Promise<AttemptResult> {
    if (!result.failure.refusesReasoning) return result;
    const isNew = mayBeAskedAgain && !this.isBy(target);
    if (isNew && (clientBody === null || (await this.without(clientBody)) !== clientBody)) {
      this.#targets.add(target);
      return result;
    }
    return { ...result, failure: { ...result.failure, refusesReasoning: false } };
  }
}
