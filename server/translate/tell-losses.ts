/** How losses are told: to the client in two headers, or as a refusal if it accepts none; and in the request's record. */
import { GatewayError } from '../contract/errors.ts';
import { type LossNote, lossCodes } from '../contract/loss-codes.ts';
import type { Fate, Loss } from './losses.ts';

/** Of each header's value; what is beyond is counted. */
const maxLength = 1024;

/** Headers with the fields that are dropped and emulated, such as `top_k, tools[3].cache_control, +2`. */
export function lossHeaders(losses: readonly Loss[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const fate of ['dropped', 'emulated'] as const) {
    const value = listOf(losses, fate);
    if (value !== '') headers[`x-sluice-${fate}`] = value;
  }
  return headers;
}

function listOf(losses: readonly Loss[], fate: Fate): string {
  const fields = losses.filter((loss) => loss.fate === fate).map(({ field, code }) => `${inAscii(field)};why=${code}`);
  let text = '';
  for (const [index, field] of fields.entries()) {
    const longer = text === '' ? field : `${text}, ${field}`;
    if (longer.length > maxLength) return `${text === '' ? '' : `${text}, `}+${fields.length - index}`;
    text = longer;
  }
  return text;
}

/** Places beyond these, in one request, are left out of its record. */
const maxNotes = 32;

/** For the record of a request: those of one fate, which a long history repeats turn by turn, told once a place. */
export function noteLosses(losses: readonly Loss[], fate: Fate): LossNote[] {
  const notes = new Map<string, LossNote>();
  for (const loss of losses) {
    if (loss.fate !== fate) continue;
    const field = withoutIndices(loss.field);
    const known = notes.get(`${loss.code} ${field}`);
    if (known) known.times++;
    else if (notes.size < maxNotes) notes.set(`${loss.code} ${field}`, { code: loss.code, field, times: 1 });
  }
  return [...notes.values()];
}

/** `messages[4].content[1]` as `messages[].content[]`. */
function withoutIndices(field: string): string {
  let text = '';
  let isInIndex = false;
  for (const character of inAscii(field)) {
    if (character === '[') isInIndex = true;
    else if (isInIndex && (character < '0' || character > '9')) isInIndex = false;
    else if (isInIndex) continue;
    text += character;
  }
  return text;
}

/** A field that nobody knows has the client's own name, which a header may not take. */
function inAscii(field: string): string {
  let text = '';
  for (const character of field.slice(0, 200))
    text += character > ' ' && character <= '~' && !',;'.includes(character) ? character : '?';
  return text;
}

/** For a client that asks for all or nothing; null where nothing is lost. */
export function refusalOf(losses: readonly Loss[]): GatewayError | null {
  const loss = losses.find(({ fate }) => fate === 'dropped' || fate === 'emulated');
  if (!loss) return null;
  const { field, code } = loss;
  const message = `'${field}' cannot be translated without loss: ${lossCodes[code]}.`;
  return new GatewayError('invalid_value', message, { param: field });
}
