/**
 * Records the parts of a request that have no equivalent in another API, and how they are handled. Every loss is
 * reported; nothing is dropped silently.
 */
import { GatewayError } from '../../contract/errors.ts';
import { type LossCode, type LossNote, lossCodes } from '../../contract/loss-codes.ts';

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

// Reports losses: to the client in two headers, or as an error if it accepts none, and in the request's ledger record.

/** Maximum length of each header's value; further fields are only counted. */
const maxLength = 1024;
const maxFieldLength = 200;

/** Headers that list dropped and emulated fields, such as `top_k, tools[3].cache_control, +2`. */
export function lossHeaders(losses: readonly Loss[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const fate of ['dropped', 'emulated'] as const) {
    const value = listOf(losses, fate);
    if (value !== '') headers[`x-sluice-${fate}`] = value;
  }
  return headers;
}

function listOf(losses: readonly Loss[], fate: Fate): string {
  const ofFate = losses.filter((loss) => loss.fate === fate);
  let text = '';
  for (const [index, { field, code }] of ofFate.entries()) {
    const longer = `${text === '' ? '' : `${text}, `}${inAscii(field)};why=${code}`;
    if (longer.length > maxLength) return `${text === '' ? '' : `${text}, `}+${ofFate.length - index}`;
    text = longer;
  }
  return text;
}

/** Maximum number of fields in one request's record; further ones are omitted. */
const maxNotes = 32;

/** Losses of one fate for the request's record, merged by field, because a long history repeats them in each turn. */
export function noteLosses(losses: readonly Loss[], fate: Fate): LossNote[] {
  const notes = new Map<string, LossNote>();
  for (const { fate: became, field, code } of losses) {
    if (became !== fate) continue;
    const path = withoutIndices(field.slice(0, maxFieldLength));
    const note = notes.get(`${code} ${path}`);
    if (note) note.times++;
    else if (notes.size < maxNotes) notes.set(`${code} ${path}`, { code, field: inAscii(path), times: 1 });
  }
  return [...notes.values()];
}

/** Converts `messages[4].content[1]` to `messages[].content[]`. */
function withoutIndices(field: string): string {
  let text = '';
  let from = 0;
  for (let open = field.indexOf('['); open !== -1; open = field.indexOf('[', from)) {
    text += field.slice(from, open + 1);
    from = open + 1;
    while (isDigit(field.charCodeAt(from))) from++;
  }
  return text + field.slice(from);
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;

/** The client chooses the names of unknown fields, so they may contain characters that a header does not allow. */
function inAscii(field: string): string {
  let text = '';
  for (const character of field.slice(0, maxFieldLength))
    text += character > ' ' && character <= '~' && !',;'.includes(character) ? character : '?';
  return text;
}

/** The error for a client that accepts no losses; null if there are none. */
export function refusalOf(losses: readonly Loss[]): GatewayError | null {
  const loss = losses.find(({ fate }) => fate === 'dropped' || fate === 'emulated');
  if (!loss) return null;
  const { field, code } = loss;
  const message = `'${field}' cannot be translated without loss: ${lossCodes[code]}.`;
  return new GatewayError(code === 'unkept-thread' ? 'thread_unsupported_request' : 'invalid_value', message, {
    param: field,
  });
}
