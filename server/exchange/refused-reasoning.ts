/**
 * Targets that refuse the reasoning in a conversation: another account has made it, or the client has changed what it hangs on.
 * They are asked once more without it; it costs what the model had thought, and nothing of what was said.
 */
import type { AttemptResult, FailedAttempt } from '../routing/attempt-result.ts';
import type { Target } from '../routing/snapshot.ts';
import { withoutThinking } from '../translate/anthropic-messages/without-thinking.ts';
import type { Sendable } from './request-body.ts';

interface Refused {
  target: Target;
  result: FailedAttempt;
  /** What the client has sent; null where it was written anew for the target, and will be again. */
  sent: Sendable | null;
  /** The client takes it that something is left out. */
  mayBeAskedAgain: boolean;
}

export class RefusedReasoning {
  readonly #targets = new Set<Target>();

  /** Whether the target has to be asked without reasoning. */
  isBy(target: Target): boolean {
    return this.#targets.has(target);
  }

  /** The body without it, for a target that takes the client's own. */
  async without<T extends Sendable>(sendable: T): Promise<T> {
    const body = sendable.bytes ? withoutThinking(await sendable.bytes()) : null;
    return body ? { ...sendable, length: body.length, open: () => body } : sendable;
  }

  /** The result, which says so once, and only where there is reasoning that may be left out. */
  async noted({ target, result, sent, mayBeAskedAgain }: Refused): Promise<AttemptResult> {
    if (!result.failure.refusesReasoning) return result;
    const isNew = mayBeAskedAgain && !this.#targets.has(target);
    if (isNew && (sent === null || (await this.without(sent)) !== sent)) {
      this.#targets.add(target);
      return result;
    }
    return { ...result, failure: { ...result.failure, refusesReasoning: false } };
  }
}
