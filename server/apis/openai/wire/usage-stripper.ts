/**
 * Removes usage from a chat stream if Sluice asked for it and the client did not, so that the client's bytes are the same
 * as without: drops the extra chunk (`"choices":[]` with usage) and the `"usage":null` that all other chunks then carry.
 * Events without the raw text `"usage"` are not examined.
 */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { endOfLine } from '../../core/streams/sse-lines.ts';
import { JsonNames } from '../../json/json-names.ts';
import { peekJson } from '../../json/json-peek.ts';

/** The end of nearly every such event: the last member of its object, then the blank line. */
const usualEnd = Buffer.from(',"usage":null}\n\n');
const keptOfUsualEnd = Buffer.from('}\n\n');
const lookedFor = new JsonNames(['usage', 'choices']);
const usageKey = Buffer.from('"usage"');
const dataField = boundedPattern(/^data: ?/m);
const comma = 0x2c;
const openingBracket = 0x5b;

/** An `EventFilter`. */
export function withoutUsage(event: Buffer): Buffer | null {
  const usualAt = event.length - usualEnd.length;
  if (usualAt > 0 && event.compare(usualEnd, 0, usualEnd.length, usualAt) === 0) return shortened(event, usualAt);
  if (!event.includes(usageKey)) return event;
  const start = payloadStart(event);
  if (start === -1) return event;
  const payload = event.subarray(start, endOfLine(event, start));
  const peek = peekJson(payload, lookedFor);
  const usage = peek.ok ? peek.fields.get('usage') : undefined;
  const choices = peek.ok ? peek.fields.get('choices') : undefined;
  if (!usage) return event;
  const isNull = payload[usage.start] === 0x6e;
  if (isNull) return withoutRange(event, start + usage.keyStart, start + usage.end);
  const noChoices = choices?.items === 0 && payload[choices.start] === openingBracket;
  return noChoices ? null : event;
}

/** Avoids searching and parsing, which would be most of the cost of a stream at full speed. */
function shortened(event: Buffer, at: number): Buffer {
  const rest = Buffer.allocUnsafe(at + keptOfUsualEnd.length);
  event.copy(rest, 0, 0, at);
  keptOfUsualEnd.copy(rest, at);
  return rest;
}

/** For a `data:` event of one line; anything else is left unchanged. */
function payloadStart(event: Buffer): number {
  const match = dataField.exec(event.toString('latin1', 0, 200));
  return match ? match.index + match[0].length : -1;
}

/** Removes a member together with its comma. */
function withoutRange(event: Buffer, from: number, to: number): Buffer {
  const before = skipSpaceBack(event, from);
  if (event[before - 1] === comma) return Buffer.concat([event.subarray(0, before - 1), event.subarray(to)]);
  const after = skipSpace(event, to);
  const end = event[after] === comma ? after + 1 : to;
  return Buffer.concat([event.subarray(0, from), event.subarray(end)]);
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

function skipSpaceBack(bytes: Buffer, offset: number): number {
  let at = offset;
  while (isSpace(bytes[at - 1])) at--;
  return at;
}

function skipSpace(bytes: Buffer, offset: number): number {
  let at = offset;
  while (isSpace(bytes[at])) at++;
  return at;
}
