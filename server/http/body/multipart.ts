/**
 * Receives a multipart upload. The client's bytes go to a spool unchanged, and from there upstream; multer parses them in
 * passing, to list fields and files and to refuse malformed forms. The only importer of multer.
 */
import type { Readable, Writable } from 'node:stream';
import type { Request, Response } from 'express';
import multer from 'multer';
import { GatewayError } from '../../contract/errors.ts';
import { mebibyte } from '../../contract/units.ts';
import { ClientGone } from '../../exchange/request/request-body.ts';
import {
  type BodySource,
  checkContentType,
  checkFormCharset,
  codingsOf,
  decodedBody,
  headerParameters,
  stopDecoding,
} from './content-headers.ts';
import { ambiguousForm, type FileRange, FormGuard } from './form-guard.ts';
import { releaseChunk, sendContinue } from './read-body.ts';
import { Spool, type SpoolOptions } from './spool.ts';

interface MultipartOptions extends SpoolOptions {
  /** Limit of the whole body. */
  maxBytes: number;
  /** Called with the length of each text kept in memory. */
  onTextKept?(bytes: number): void;
}

interface MultipartFile {
  field: string;
  /** Without folders; untrusted. */
  filename: string;
  /** The content type without parameters. */
  contentType: string;
}

/** The owner must call `spool.dispose()`. */
export interface MultipartBody {
  kind: 'multipart';
  spool: Spool;
  /** The client's header, to be sent with the bytes. */
  contentType: string;
  boundary: string;
  /** Text fields by name as sent (`chunking_strategy[type]`); a list for repeated names. */
  fields: Record<string, string | string[]>;
  files: MultipartFile[];
  /** Where their content is. */
  ranges: readonly FileRange[];
  size: number;
}

const maxFieldBytes = 8 * mebibyte;
/** Limit of all text fields together, which are held in memory. */
const maxTextLength = 32 * mebibyte;
const maxParts = 1000;

/** An option of multer 2.5 that its types lack. */
interface StreamingOptions extends multer.Options {
  streamHandler(request: Request, parser: Writable): void;
}

type Found = Pick<MultipartBody, 'fields' | 'files'>;
type Fail = (error: unknown) => void;

interface Reading {
  /** The request, or what its body decodes to. */
  source: BodySource;
  spool: Spool;
  guard: FormGuard;
  options: MultipartOptions;
}

interface Watch {
  fields: MultipartBody['fields'];
  guard: FormGuard;
  fail: Fail;
  onTextKept: MultipartOptions['onTextKept'];
}

/**
 * Reads the whole upload. Rejects with `too_large` as soon as a limit is exceeded (the rest is read and discarded),
 * `too_many_parts`, `malformed_multipart` or `ClientGone`, and then leaves nothing behind.
 */
export async function receiveMultipart(
  request: Request,
  response: Response,
  options: MultipartOptions,
): Promise<MultipartBody> {
  const contentType = request.headers['content-type'] ?? '';
  const boundary = requireBoundary(contentType);
  requireBody(request, options.maxBytes);
  const codings = codingsOf(request.headers);
  sendContinue(request, response);
  const { 'content-length': announced } = request.headers;
  const isLengthKnown = announced !== undefined && codings.length === 0;
  const spool = new Spool({ ...options, ...(isLengthKnown && { expectedBytes: Number(announced) }) });
  const source = codings.length === 0 ? request : decodedBody(request, codings, options.maxBytes);
  try {
    const guard = new FormGuard(boundary);
    const parts = await readParts(request, response, { source, spool, guard, options });
    return { kind: 'multipart', spool, contentType, boundary, ...parts, ranges: guard.files, size: spool.size };
  } catch (error) {
    await spool.dispose();
    throw error;
  }
}

function requireBoundary(contentType: string): string {
  checkContentType(contentType);
  checkFormCharset(contentType);
  const boundary = headerParameters(contentType).values.get('boundary');
  if (!/^\s*multipart\/form-data\s*;/i.test(contentType) || !boundary) {
    throw new GatewayError('malformed_multipart', 'The content type must be multipart/form-data with a boundary.');
  }
  if (!plainBoundary.test(boundary)) {
    throw new GatewayError('malformed_multipart', 'The boundary must be 1 to 70 letters, digits and plain marks.');
  }
  return boundary;
}

/** The characters of RFC 2046 and others in use (`*****`), without those that parsers unescape differently. */
const plainBoundary = /^[!#-[\]-~ ]{0,69}[!#-[\]-~]$/;

function requireBody({ headers, destroyed }: Request, maxBytes: number): void {
  if (Number(headers['content-length']) > maxBytes) throw uploadTooLarge('The request body', maxBytes);
  if (destroyed || (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)) {
    throw new GatewayError('malformed_multipart', 'The request has no body.');
  }
}

function readParts(request: Request, response: Response, { source, spool, guard, options }: Reading): Promise<Found> {
  return new Promise((resolve, reject) => {
    const parts: Found = { fields: Object.create(null), files: [] };
    let intake: UploadIntake | undefined;
    // multer reports errors only at the end of the body; here every fault rejects at once, and the rest is discarded.
    const giveUp = (error: unknown) => {
      intake?.stop();
      stopDecoding(source);
      request.resume();
      reject(error);
    };
    // multer hears of a request's own faults alone.
    if (source !== request) source.on('error', giveUp);
    const fail: Fail = (error) => giveUp(request.readableAborted ? new ClientGone() : refusal(error));
    const settings: StreamingOptions = {
      storage: namingStorage(parts.files),
      limits: { parts: maxParts, fieldSize: maxFieldBytes },
      defParamCharset: 'utf8',
      streamHandler(_request, parser) {
        const { maxBytes, onTextKept } = options;
        watchParser(parser, { fields: parts.fields, guard, fail, onTextKept });
        intake = new UploadIntake(source, { guard, spool, parser, maxBytes, fail: giveUp });
      },
    };
    multer(settings).any()(request, response, (error?: unknown) => {
      // multer calls back at once without an error if it does not understand the content type.
      if (error !== undefined || !intake?.isComplete) fail(error ?? new Error('Its content type cannot be read'));
      else if (guard.isThrough) resolve(parts);
      else fail(otherParts());
    });
  });
}

/** Collects text fields by their flat names (multer nests them), and reports faults at once. */
function watchParser(parser: Writable, { fields, guard, fail, onTextKept }: Watch): void {
  let textLength = 0;
  const addText = (name: string | undefined, value: string) => {
    if (name === undefined) return fail(new Error('A part has no name'));
    textLength += value.length;
    if (textLength > maxTextLength) return fail(uploadTooLarge('All text together', maxTextLength));
    onTextKept?.(value.length);
    const earlier = fields[name];
    fields[name] = earlier === undefined ? value : [earlier, value].flat();
  };
  parser.on('error', fail);
  parser.on('partsLimit', () => fail(new GatewayError('too_many_parts', `At most ${maxParts} parts are taken.`)));
  parser.on('field', (name: string | undefined, value: string, { valueTruncated }: { valueTruncated: boolean }) => {
    if (!guard.agrees(name, false)) fail(otherParts());
    else if (valueTruncated) fail(uploadTooLarge(`The field "${name}"`, maxFieldBytes));
    else addText(name, value);
  });
  parser.on('file', (name: string | undefined, part: Readable, { filename }: { filename?: string }) => {
    if (!guard.agrees(name, Boolean(filename))) fail(otherParts());
    if (!filename) gatherText(part, (value) => addText(name, value), fail);
  });
}

/** busboy takes an octet-stream part without a file name for a file, which multer drops; here it is a text field. */
function gatherText(part: Readable, done: (value: string) => void, fail: Fail): void {
  const chunks: Buffer[] = [];
  let size = 0;
  part.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxFieldBytes) return fail(uploadTooLarge('A part without a file name', maxFieldBytes));
    chunks.push(chunk);
  });
  part.once('end', () => done(Buffer.concat(chunks).toString()));
}

/** Stores nothing; the spool has the bytes. */
function namingStorage(files: MultipartFile[]): multer.StorageEngine {
  return {
    _handleFile(_request, { fieldname, originalname, mimetype, stream }, done) {
      files.push({ field: fieldname, filename: originalname, contentType: mimetype });
      stream.once('end', () => done(null)).resume();
    },
    _removeFile(_request, _file, done) {
      done(null);
    },
  };
}

function otherParts(): GatewayError {
  return ambiguousForm('its parts can be told apart otherwise');
}

function refusal(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new GatewayError('malformed_multipart', `The multipart body is malformed: ${reason}.`, { cause: error });
}

interface IntakeOptions {
  guard: FormGuard;
  spool: Spool;
  parser: Writable;
  /** Size limit of the whole body. */
  maxBytes: number;
  /** Called with the first fault; no more data is accepted after it. */
  fail(error: unknown): void;
}

/**
 * Reads an upload from its connection chunk by chunk: checks each chunk with the guard, writes it to the spool, and
 * passes everything except the content of files to the parser.
 *
 * Written by hand, because `pipe` and a Transform would cost more than the search itself: here one call handles a
 * chunk.
 */
class UploadIntake {
  readonly #source: Readable;
  readonly #options: IntakeOptions;
  #isStopped = false;
  #isComplete = false;
  /** Number of pending operations that must finish before the next chunk is read. */
  #obstacles = 0;
  readonly #clear = () => {
    this.#obstacles--;
    if (this.#obstacles === 0 && !this.#isStopped) this.#source.resume();
  };

  constructor(source: Readable, options: IntakeOptions) {
    this.#source = source;
    this.#options = options;
    source.on('data', this.#onData);
    source.once('end', this.#onEnd);
  }

  /** Whether the whole upload is in the spool. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Stops reading. The rest is left to the caller, to be read or discarded. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#source.off('data', this.#onData);
    this.#source.off('end', this.#onEnd);
    this.#options.parser.destroy();
  }

  readonly #onData = (chunk: Buffer) => {
    const { guard, spool, maxBytes, fail } = this.#options;
    if (spool.size + chunk.length > maxBytes) return fail(uploadTooLarge('The request body', maxBytes));
    let parserChunks: readonly Buffer[];
    try {
      parserChunks = guard.take(chunk);
    } catch (error) {
      return fail(error);
    }
    this.#spoolChunk(chunk, parserChunks.length > 0);
    for (const chunk of parserChunks) this.#parse(chunk);
  };

  /** A slow disk slows the client down instead of filling the memory. */
  #spoolChunk(chunk: Buffer, isShown: boolean): void {
    let isAtOnce = true;
    let isDone = false;
    this.#options.spool.write(chunk, (error) => {
      isDone = true;
      // The parser may keep a part of each chunk that it receives.
      if (!isShown) releaseChunk(chunk);
      if (error) this.#options.fail(error);
      else if (!isAtOnce) this.#clear();
    });
    isAtOnce = false;
    if (!isDone) this.#wait();
  }

  #parse(chunk: Buffer): void {
    const { parser } = this.#options;
    if (this.#isStopped || parser.write(chunk) || parser.writableLength === 0) return;
    this.#wait();
    parser.once('drain', this.#clear);
  }

  #wait(): void {
    this.#obstacles++;
    this.#source.pause();
  }

  readonly #onEnd = () => {
    const { spool, parser, fail } = this.#options;
    spool.finish().then(() => {
      if (this.#isStopped) return;
      this.#isComplete = true;
      parser.end();
    }, fail);
  };
}

function uploadTooLarge(subject: string, maxBytes: number): GatewayError {
  return new GatewayError('too_large', `${subject} is larger than the limit of ${maxBytes} bytes.`);
}
