/**
 * What happens to the parts of a request that another API has no equal for. All of it is told; nothing is lost in
 * silence.
 */
import { GatewayError } from '../contract/errors.ts';

/**
 * `carried`: goes through whole, in another form. `emulated`: the upstream is brought to do about the same by other means.
 * `dropped`: left out; the answer means the same without it. `refused`: the answer would mean something else without it.
 */
export type Fate = 'carried' | 'emulated' | 'dropped' | 'refused';

export const lossCodes = {
  'unknown-field': 'not part of the API as Sluice knows it',
  'no-equal': 'the upstream API has nothing like it',
  'model-takes-none': 'the model does not take it',
  'out-of-range': 'changed to the nearest value that the model takes',
  'provider-tool': 'a tool that only the provider of the API runs',
  'provider-item': 'an item that only the provider of the API reads',
  'foreign-file': 'a file that was uploaded to another provider',
  media: 'the upstream takes no such media',
  'moved-media': 'media of a tool result, moved into a message after the results',
  'foreign-reasoning': 'reasoning that another provider, model or account has sealed',
  'unsealed-reasoning': 'reasoning without its signature',
  'reasoning-off': 'reasoning is switched off for this request',
  'as-text': 'written as text',
  'as-function': 'a custom tool, offered as a function with one text',
  'in-prompt': 'asked for in the system prompt',
  'as-tool': 'asked for by a tool that the model has to call',
  'missing-result': 'a call without result, answered as cancelled',
  'stray-result': 'a result of no known call, written as text',
  'added-turn': 'a turn added where the API wants one',
  'merged-turn': 'joined with the turn before it',
  'empty-text': 'an empty text, which the API refuses',
  renamed: 'a name or id that the API refuses, replaced',
  'schema-keyword': 'keywords of a schema that the API refuses, told in its description',
  sealed: 'reasoning in an envelope, which comes back with the conversation',
} as const;

export type LossCode = keyof typeof lossCodes;

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
