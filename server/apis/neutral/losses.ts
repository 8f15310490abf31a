/**
 * Records the parts of a request that have no equivalent in another API, and how they are handled. Every loss is
 * reported; nothing is dropped silently.
 */
import { GatewayError } from '../../contract/errors.ts';
import { type LossCode, lossCodes } from '../../contract/loss-codes.ts';

/**
 * `carried`: passed on completely, in another form. `emulated`: the upstream achieves about the same by other means.
 * `dropped`: omitted, without changing the meaning of the answer. `refused`: without it, the meaning of the answer
 * would change.
 */
export type Fate = 'carried' | 'emulated' | 'dropped' | 'refused';

export interface Loss {
  fate: Fate;
  /** A path in the client's own notation, such as `messages[4].content[1]`. */
  field: string;
  code: LossCode;
}

/** Collects the losses of one translation without duplicates. */
export class Losses {
  readonly #reported = new Map<string, Loss>();

  carried(field: string, code: LossCode): void {
    this.#report({ fate: 'carried', field, code });
  }

  emulated(field: string, code: LossCode): void {
    this.#report({ fate: 'emulated', field, code });
  }

  dropped(field: string, code: LossCode): void {
    this.#report({ fate: 'dropped', field, code });
  }

  #report(loss: Loss): void {
    const key = `${loss.fate} ${loss.code} ${loss.field}`;
    if (!this.#reported.has(key)) this.#reported.set(key, loss);
  }

  get list(): Loss[] {
    return [...this.#reported.values()];
  }
}

/** Throws, because the meaning of the answer would change without the field. */
export function refuse(field: string, code: LossCode): never {
  throw new GatewayError('invalid_value', `'${field}' cannot be translated for this model: ${lossCodes[code]}.`, {
    param: field,
  });
}

/** Throws, because the request is not valid in the client's API. */
export function invalid(field: string, reason: string): never {
  throw new GatewayError('invalid_value', `Invalid '${field}': ${reason}.`, { param: field });
}
