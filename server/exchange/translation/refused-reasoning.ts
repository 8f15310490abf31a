/**
 * Tracks targets that refuse the reasoning in a conversation, because another account produced it or the client changed
 * the content that its signature covers. They are asked once more without it: the model's thoughts are lost, but no text.
 */

import type { Unsealed } from '../../apis/translation/returned-seals.ts';
import { withoutReasoning } from '../../apis/translation/translation-registry.ts';
import type { AttemptResult, FailedAttempt } from '../../routing/attempt-result.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { Sendable } from '../request/request-body.ts';
import { isHeavyRequest, unsealedApart } from './request-apart.ts';
import type { TranslationThreads } from './translation-threads.ts';

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

  readonly #threads: TranslationThreads;
  readonly #values: number;

  /** @param call of the client */
  constructor({ match, body }: OutgoingCall, threads: TranslationThreads) {
    this.#wire = match.route.wire.name;
    this.#values = body.values ?? 0;
    this.#threads = threads;
  }

  /** Whether the target has to be asked without reasoning. */
  isBy(target: Target): boolean {
    return this.#targets.has(target);
  }

  /** The body without reasoning, for a target that receives the client's own format; null if there is none. */
  async without({ bytes }: Sendable, model: string): Promise<Unsealed | null> {
    if (!bytes) return null;
    const body = await bytes();
    return isHeavyRequest({ size: body.length, values: this.#values })
      ? unsealedApart(this.#threads, body, { wire: this.#wire, model })
      : withoutReasoning(this.#wire, body, model);
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
