/** How losses are told to the client: in two headers of the response, or, where it will not have any, as a refusal. */
import { GatewayError } from '../contract/errors.ts';
import { type Fate, type Loss, lossCodes } from './losses.ts';

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
