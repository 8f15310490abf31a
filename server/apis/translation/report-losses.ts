/**
 * Reports losses: to the client in two headers, or as an error if it accepts none, and in the request's ledger record.
 */
import { GatewayError } from '../../contract/errors.ts';
import { type LossNote, lossCodes } from '../../contract/loss-codes.ts';
import type { UpstreamWireName, WireName } from '../neutral/conversation.ts';
import type { Fate, Loss } from '../neutral/losses.ts';
import { wireTranslations } from './translation-registry.ts';
import { createTranslator } from './translator.ts';

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

interface PossibleLosses {
  dropped: LossNote[];
  emulated: LossNote[];
}

/** Losses of request fields, for a model given by its upstream name. Losses of messages depend on their content. */
export function possibleLosses(client: WireName, upstream: UpstreamWireName, model: string): PossibleLosses {
  const translator = createTranslator(client, upstream);
  if (!translator) return { dropped: [], emulated: [] };
  try {
    const parsed = translator.read(Buffer.from(JSON.stringify(wireTranslations[client].client.specimen)), {
      model,
      stream: false,
    });
    const { losses } = translator.request(parsed, { model, origin: { provider: '', model, account: '' } });
    return { dropped: noteLosses(losses, 'dropped'), emulated: noteLosses(losses, 'emulated') };
  } catch (error) {
    if (error instanceof GatewayError) return { dropped: [], emulated: [] };
    throw error;
  }
}
