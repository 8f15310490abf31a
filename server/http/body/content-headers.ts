/**
 * What the headers of a request say of its body: the type with its parameters, and the codings, which are decoded here.
 */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  type BrotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  type Gunzip,
  type Inflate,
  type ZstdDecompress,
} from 'node:zlib';
import { GatewayError } from '../../contract/errors.ts';
import { ClientGone } from '../../exchange/request/request-body.ts';

/** The encodings in which all parsers agree on names and values. */
const plainCharsets = new Set(['utf-8', 'utf8', 'us-ascii']);

export function isPlainCharset(charset: string): boolean {
  return plainCharsets.has(charset.toLowerCase());
}

/**
 * Refuses a content type with a repeated parameter, such as two boundaries: of these the upstream may choose the other one
 * and read a different form.
 */
export function checkContentType(contentType: string | undefined): void {
  if (!contentType?.includes(';')) return;
  const { values, repeated } = headerParameters(contentType);
  const doubled = repeated ?? [...values.keys()].find((name) => name.startsWith('boundary*')) ?? null;
  if (doubled === null) return;
  throw new GatewayError('invalid_value', `The content type names its parameter "${doubled.slice(0, 100)}" twice.`, {
    param: 'content-type',
  });
}

/**
 * Refuses forms in other encodings: Django decodes forms by this charset (`HttpRequest.encoding`), so `+AG0-odel` in UTF-7 would be
 * `model`.
 */
export function checkFormCharset(contentType: string): void {
  const { values } = headerParameters(contentType);
  const isExtended = [...values.keys()].some((name) => name.startsWith('charset*'));
  if (!isExtended && isPlainCharset(values.get('charset') ?? 'utf-8')) return;
  throw new GatewayError(
    'invalid_value',
    'The content type names a charset that is not UTF-8. Send the form in UTF-8.',
    {
      param: 'content-type',
    },
  );
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`[ \\t]*;[ \\t]*(${token})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');
/** Longer than any real header; a longer one is not parsed. */
const maxLength = 4_096;

interface HeaderParameters {
  /** By name in lower case, without quotes and escapes; the first of a repeated one. */
  values: Map<string, string>;
  /** The first repeated name; null if none. Python's email parser takes the first value of a repeated one, its `cgi` module the last. */
  repeated: string | null;
  /** The unparsed rest from the first malformed parameter on; empty if there is none. */
  rest: string;
}

/** The parameters of a header such as `Content-Type` or `Content-Disposition`. */
export function headerParameters(header: string): HeaderParameters {
  const values = new Map<string, string>();
  const semicolon = header.indexOf(';');
  if (semicolon === -1 || header.length > maxLength)
    return { values, repeated: null, rest: semicolon === -1 ? '' : header };
  let repeated: string | null = null;
  let end = semicolon;
  parameter.lastIndex = semicolon;
  for (let match = parameter.exec(header); match !== null; match = parameter.exec(header)) {
    const name = (match[1] ?? '').toLowerCase();
    if (values.has(name)) repeated ??= name;
    else values.set(name, match[3] ?? (match[2] ?? '').replace(/\\(["\\])/g, '$1'));
    end = parameter.lastIndex;
  }
  return { values, repeated, rest: header.slice(end).trim() };
}

// Content codings of request bodies (RFC 9110, 8.4): which of them are taken, and the streams that decode them.

type Decoder = Gunzip | Inflate | BrotliDecompress | ZstdDecompress;
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** Decoders return so many bytes at a time. */
const chunkSize = 64 * 1024;
/** RFC 9659: a sender must not demand a window above 8 MiB; Node's own bound is 128 MiB. */
const zstdOptions = { chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/** @param start the first bytes of what is decoded */
const decoders: Record<Coding, (start: Buffer) => Decoder> = {
  gzip: () => createGunzip({ chunkSize }),
  // Zlib's format; RFC 9110, 8.4.1.2, notes that some implementations send the bare one, whose first byte never ends in these bits.
  deflate: ([first = 0]) => ((first & 0x0f) === 0x08 ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize })),
  br: () => createBrotliDecompress({ chunkSize }),
  zstd: () => createZstdDecompress(zstdOptions),
};

const codings = new Map<string, Coding>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
]);
/** Each one on top of another multiplies what a few bytes can become. */
const maxCodings = 2;
const none: readonly Coding[] = [];

/**
 * The codings of a body in the order in which they were applied; empty for a plain one. Throws GatewayError
 * `unsupported_media_type` for any that cannot be decoded.
 */
export function codingsOf({ 'content-encoding': header }: IncomingHttpHeaders): readonly Coding[] {
  if (header === undefined) return none;
  const names = header.split(',').map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== '' && name !== 'identity');
  const known = applied.map((name) => codings.get(name));
  const unknown = known.indexOf(undefined);
  if (unknown === -1 && applied.length <= maxCodings) return known.filter((coding) => coding !== undefined);
  const fault =
    unknown === -1
      ? `it was encoded ${applied.length} times, and at most ${maxCodings} are taken`
      : `its content-encoding "${applied[unknown]?.slice(0, 100)}" is not known`;
  throw new GatewayError('unsupported_media_type', `The body of this request cannot be read: ${fault}.`, {
    param: 'content-encoding',
    // RFC 9110, 15.5.16: it tells the client which codings would have been accepted.
    headers: { 'accept-encoding': acceptedCodings },
  });
}

const acceptedCodings = 'gzip, deflate, br, zstd, identity';

/** Undoes one coding. Fails with a GatewayError if the bytes are damaged or break off, or are more than `maxBytes` on either side. */
class DecodingStream extends Transform {
  readonly #coding: Coding;
  readonly #maxBytes: number;
  #decoder: Decoder | null = null;
  /** Bytes given to this decoder. */
  #givenBytes = 0;
  /** Bytes taken altogether. */
  #takenBytes = 0;
  #decodedBytes = 0;
  /** The chunk that is being decoded. */
  #chunk: Buffer | null = null;
  #done: TransformCallback = () => {};

  constructor(coding: Coding, maxBytes: number) {
    super({ readableHighWaterMark: chunkSize });
    this.#coding = coding;
    this.#maxBytes = maxBytes;
  }

  /** Like a request's: whether its reader has all of it. */
  get complete(): boolean {
    return this.readableEnded;
  }

  override _read(size: number): void {
    this.#decoder?.resume();
    super._read(size);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#takenBytes += chunk.length;
    this.#done = done;
    if (this.#takenBytes > this.#maxBytes) done(bodyTooLarge(this.#maxBytes, this.#takenBytes));
    else this.#decode(chunk);
  }

  override _flush(done: TransformCallback): void {
    this.#done = done;
    if (this.#decoder) this.#decoder.end();
    else done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#decoder?.destroy();
    done(error);
  }

  #decode(chunk: Buffer): void {
    this.#decoder ??= this.#open(chunk);
    this.#chunk = chunk;
    this.#givenBytes += chunk.length;
    this.#decoder.write(chunk, () => {
      this.#chunk = null;
      this.#done();
    });
  }

  #open(start: Buffer): Decoder {
    this.#givenBytes = 0;
    const decoder = decoders[this.#coding](start);
    decoder.on('data', (decoded: Buffer) => this.#pass(decoded, decoder));
    decoder.on('error', (error) => this.destroy(damaged(this.#coding, error)));
    decoder.on('end', () => this.#ended(decoder));
    return decoder;
  }

  #pass(decoded: Buffer, decoder: Decoder): void {
    this.#decodedBytes += decoded.length;
    if (this.#decodedBytes > this.#maxBytes) this.destroy(bodyTooLarge(this.#maxBytes, this.#decodedBytes));
    else if (!this.push(decoded)) decoder.pause();
  }

  /** Node ends a decoder before its last chunk is used up if other bytes follow; then the chunk's callback is not called. */
  #ended(decoder: Decoder): void {
    if (this.#chunk === null) this.#done();
    else this.#goOn(this.#chunk, decoder);
  }

  /** A zstd body may have several frames (RFC 8878, 3); Node decodes a gzip's members itself. */
  #goOn(chunk: Buffer, decoder: Decoder): void {
    if (this.#coding !== 'zstd' || decoder.bytesWritten === 0) {
      this.destroy(damaged(this.#coding, new Error('other bytes follow its end')));
      return;
    }
    decoder.destroy();
    this.#decoder = null;
    this.#decode(chunk.subarray(chunk.length - (this.#givenBytes - decoder.bytesWritten)));
  }
}

function damaged(coding: Coding, cause: Error): GatewayError {
  const message = `The body of this request cannot be decoded: it is no whole and valid ${coding}, which its content-encoding says it is (${cause.message}).`;
  return new GatewayError('invalid_value', message, { param: 'content-encoding', cause });
}

/** A body to be read: a request, or what it decodes to. */
export type BodySource = Readable & { readonly complete: boolean };

/**
 * What the body of a request decodes to, while it arrives. It fails with the faults of the request and with those of the
 * coding; the rest of the request is discarded then, or if it is destroyed.
 */
export function decodedBody(request: IncomingMessage, applied: readonly Coding[], maxBytes: number): BodySource {
  const { first, last } = stagesOf(applied, maxBytes);
  request.on('error', (error) => last.destroy(error));
  request.on('close', () => {
    if (!request.complete) last.destroy(new ClientGone());
  });
  last.on('close', () => {
    request.unpipe(first);
    request.resume();
  });
  request.pipe(first);
  return last;
}

/** The same for a body that is in memory; null if it is damaged, or decodes to more than `maxBytes`. */
export async function decodeWhole(bytes: Buffer, applied: readonly Coding[], maxBytes: number): Promise<Buffer | null> {
  const { first, last } = stagesOf(applied, maxBytes);
  first.end(bytes);
  return buffer(last).catch(() => null);
}

/** Stops what still decodes for a reader that has given up. A request goes on: it is discarded to its end. */
export function stopDecoding(source: BodySource): void {
  if (source instanceof DecodingStream) source.destroy();
}

/** Streams for at least one coding, the last applied first; the last stream fails if one of them does. */
function stagesOf(applied: readonly Coding[], maxBytes: number): { first: DecodingStream; last: DecodingStream } {
  const [first, second] = applied.toReversed().map((coding) => new DecodingStream(coding, maxBytes));
  if (!first) throw new Error('A body without a coding is not decoded.');
  if (!second) return { first, last: first };
  first.on('error', (error) => second.destroy(error));
  second.on('close', () => first.destroy());
  first.pipe(second);
  return { first, last: second };
}

export function bodyTooLarge(maxBytes: number, bytes: number): GatewayError {
  return new GatewayError('too_large', `Maximum content size limit (${maxBytes}) exceeded (${bytes} bytes read).`);
}
