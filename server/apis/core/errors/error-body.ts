/**
 * Parses an upstream's error body. Pydantic's validation errors, as FastAPI and vLLM send them, echo their input, so
 * an error may have megabytes (vllm#49239): of a long one only the relevant members are parsed.
 */

import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { JsonNames } from '../../json/json-names.ts';
import { fieldValue, type JsonField, peekJson } from '../../json/json-peek.ts';
import { errorOf, textError, type UpstreamError } from '../upstream-error.ts';

/** JSON up to this size is parsed as a whole. */
const parsedBytes = 64 * 1024;
/** JSON up to this size is scanned; a longer error is classified by its status alone. */
const readBytes = 256 * 1024;
/** Of a longer string, only this much is read. */
const textBytes = 2048;
const quote = 0x22;
const openingBrace = 0x7b;
const byteOrderMark = Buffer.from('\ufeff');

const errorFields = [
  'message',
  'msg',
  'type',
  'status',
  'code',
  'param',
  'details',
  'metadata',
  'n_prompt_tokens',
  'n_ctx',
];
const errorFieldNames = new JsonNames(errorFields);
const topNames = new JsonNames([
  ...['error', 'response', 'object', 'detail', 'errors', 'error_type', 'error_code', 'error_msg', 'base_resp'],
  ...errorFields,
]);
const errorName = new JsonNames(['error']);

/** What the body of a response with an error status says. */
export interface ErrorInBody {
  /** Null if it says nothing, or nothing that could be read. */
  error: UpstreamError | null;
  /** It is a page for people, as proxies and firewalls send them, and not the service's answer. */
  isPage: boolean;
  /** The JSON that it is; undefined if it is none. */
  value: unknown;
}

export function readError(given: Buffer): ErrorInBody {
  const body = given.subarray(0, 3).equals(byteOrderMark) ? given.subarray(3) : given;
  const value = readErrorBody(body);
  if (value !== undefined && typeof value !== 'string') return { error: errorOf(value), isPage: false, value };
  const text = (value ?? body.toString('utf8', 0, textBytes)).slice(0, textBytes).trim();
  const told = xmlError(text);
  if (told !== null) return { error: told, isPage: false, value };
  if (pageBeginning.test(text)) return { error: null, isPage: true, value };
  const isText = isReadable(text) && !jsonBeginning.test(text);
  return { error: isText ? textError(text) : null, isPage: false, value };
}

/**
 * The error of a service that writes XML: AWS's front doors, which do not know a path (`<UnknownOperationException/>`), object
 * stores, Azure's storage and API gateways. Null if it is none, such as a page of HTML.
 */
function xmlError(text: string): UpstreamError | null {
  if (!text.startsWith('<') || htmlElement.test(text)) return null;
  const code = contentOf(xmlCode.exec(text));
  const message = contentOf(xmlMessage.exec(text)) || code || (onlyElement.exec(text)?.[1] ?? '');
  return message === '' ? null : { ...textError(message), code, isText: false };
}

const htmlElement = boundedPattern(/<(?:!doctype|html|head|body|title|center|h1)[\s>]/i);
const xmlCode = boundedPattern(/<code>([^<]{1,100})<\/code>/i);
const xmlMessage = boundedPattern(/<message(?: [^<>]{0,100})?>([^<]{1,1000})<\/message>/i);
const onlyElement = boundedPattern(
  /^(?:<\?xml[^<>]{0,100}\?>\s{0,10})?<([A-Za-z]{1,80}(?:Exception|Error|Fault))\s?\/>$/,
);

/** That of `&` is last, so that nothing is read twice. */
const xmlEntities = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
] as const;

function contentOf(found: RegExpExecArray | null): string {
  const text = (found?.[1] ?? '').trim();
  return xmlEntities.reduce((read, [entity, character]) => read.replaceAll(entity, character), text);
}

const pageBeginning = boundedPattern(/^\s{0,60}<(?:!|\?|html|head|body|center|h1)/i);
const jsonBeginning = boundedPattern(/^[{[]/);

/** Not binary data, nor another encoding. */
function isReadable(text: string): boolean {
  return text !== '' && !text.includes('\0') && !text.includes('\ufffd');
}

/**
 * The input for `errorOf`: the whole body if it is short, otherwise its relevant members. Undefined if it is too long or
 * not JSON.
 */
function readErrorBody(body: Buffer): unknown {
  if (body.length <= parsedBytes) return parse(body);
  return body.length <= readBytes ? readLong(body, topNames) : undefined;
}

/** The members in `names`, each shortened by `readMember`. */
function readLong(body: Buffer, names: JsonNames): Record<string, unknown> | undefined {
  const peek = peekJson(body, names);
  if (!peek.ok) return undefined;
  return Object.fromEntries([...peek.fields].map(([name, field]) => [name, readMember(body, name, field)]));
}

/** The value of a member, without parts that are long to parse. */
function readMember(body: Buffer, name: string, field: JsonField): unknown {
  if (field.end - field.start <= parsedBytes) return parseField(body, field);
  if (body[field.start] === quote) return beginningOf(body, field.start);
  if (body[field.start] !== openingBrace) return undefined;
  const value = body.subarray(field.start, field.end);
  if (value.length > readBytes) return {};
  if (name === 'error') return readLong(value, errorFieldNames);
  return name === 'response' ? readLong(value, errorName) : undefined;
}

/** The string's beginning, cut before an escape in its second half, so that no escape is split. */
function beginningOf(body: Buffer, start: number): string {
  const text = body.toString('utf8', start + 1, start + textBytes);
  const cut = text.indexOf('\\', textBytes / 2);
  return parseText(cut === -1 ? text : text.slice(0, cut));
}

function parseText(escaped: string): string {
  const value = parse(Buffer.from(`"${escaped}"`));
  return typeof value === 'string' ? value : escaped;
}

function parseField(body: Buffer, field: JsonField): unknown {
  try {
    return fieldValue(body, field);
  } catch {
    return undefined;
  }
}

function parse(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}
