/**
 * What happens to the parts of a request that another API has no equal for. All of it is told; nothing is lost in
 * silence.
 */
import { GatewayError } from '../contract/errors.ts';
import { type LossCode, lossCodes } from '../contract/loss-codes.ts';

/**
 * `carried`: goes through whole, in another form. `emulated`: the upstream is brought to do about the same by other means.
 * `dropped`: left out; the answer means the same without it. `refused`: the answer would mean something else without it.
 */
export type Fate = 'carried' | 'emulated' | 'dropped' | 'refused';

export interface Loss {
  fate: Fate;
  /** A path in the client's own notation, such as `messages[4].content[1]`. */
  field: string;
  code: LossCode;
}

/** Collects the losses of one translation, each once. */
export class Losses {
  readonly #told = new Map<string, Loss>();

  carried(field: string, code: LossCode): void {
    this.#tell({ fate: 'carried', field, code });
  }

  emulated(field: string, code: LossCode): void {
    this.#tell({ fate: 'emulated', field, code });
  }

  dropped(field: string, code: LossCode): void {
    this.#tell({ fate: 'dropped', field, code });
  }

  #tell(loss: Loss): void {
    const key = `${loss.fate} ${loss.code} ${loss.field}`;
    if (!this.#told.has(key)) this.#told.set(key, loss);
  }

  get list(): Loss[] {
    return [...this.#told.values()];
  }
}

/** Throws: the answer would mean something else without the field. */
export function refuse(field: string, code: LossCode): never {
  throw new GatewayError('invalid_value', `'${field}' cannot be translated for this model: ${lossCodes[code]}.`, {
    param: field,
  });
}

/** Throws: the request is not one of the client's API. */
export function invalid(field: string, reason: string): never {
  throw new GatewayError('invalid_value', `Invalid '${field}': ${reason}.`, { param: field });
}
