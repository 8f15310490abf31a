/**
 * The program's log: JSON lines in `sluice.log`, written asynchronously, with rotation and redaction of secrets. Bodies
 * and headers are never logged; the redaction is a safeguard against objects that contain them by accident.
 */
import { close, existsSync, mkdirSync, openSync, renameSync, statSync, write } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import pino from 'pino';
import type { RequestRecord } from '../../contract/ledger.ts';
import { redactSecretShapes } from '../../contract/secret-shape.ts';
import { after, every } from '../timers.ts';
import { systemErrorCode } from './regular-file.ts';

export interface LogFile {
  log: Logger;
  logRequest: LogRequest;
  path: string;
  /** Writes pending lines at the end of the program, as far as the disk takes them in this time. */
  close(limitMs?: number): Promise<{ lostLines: number }>;
  /** A write has neither succeeded nor failed at the end, so that a thread of the process still waits for the disk. */
  readonly isStuck: boolean;
}

/** Logs one line about a request. */
export type LogRequest = (record: RequestRecord) => void;

const maxBytes = 10 * 1024 * 1024;
/** `sluice.log`, `sluice.log.1`, `sluice.log.2`. */
const keptFiles = 3;
/** Lines of requests are formatted together until they reach this length or the timer fires. */
const batchLength = 64 * 1024;
const flushEveryMs = 500;
const closeMs = 1_000;

/** Lower case, without `-` and `_`. */
const secretFields = new Set([
  'authorization',
  'apikey',
  'xapikey',
  'cookie',
  'setcookie',
  'secret',
  'token',
  'passphrase',
]);
const infoLevel = pino.levels.values.info;
const maxDepth = 4;
const judgedFields = new Map<string, boolean>();
const maxJudgedFields = 1_000;
/** Secrets within a text: `sk-…`, and anything that follows `Bearer`. */
const secretTexts = /\bsk-[\w-]{8,}|(?<=\bbearer )\S+/gi;

/** While the file cannot be opened (such as in a read-only folder), lines are lost. */
export function openLogFile(folder: string): LogFile {
  const path = join(folder, 'sluice.log');
  // Opened immediately, so that early failures are logged.
  let destination = openDestination(path);
  const requests = createRequestLog({ write: (lines) => void destination?.write(lines) });
  const timer = every(() => {
    requests.flush();
    destination?.flush();
    if (destination && rotateIfFull(path)) {
      // The buffered lines go to the renamed file.
      destination.end();
      destination = null;
    }
    destination ??= openDestination(path);
  }, flushEveryMs).unref();
  // Writes pending lines of requests first, to keep the order.
  const write = (line: string) => {
    requests.flush();
    destination?.write(line);
  };
  return {
    log: createLog({ write }),
    logRequest: requests.log,
    path,
    close: async (limitMs = closeMs) => {
      clearInterval(timer);
      requests.flush();
      await destination?.finish(limitMs);
      return { lostLines: destination?.unwrittenLines ?? 0 };
    },
    get isStuck() {
      return destination?.isStuck ?? false;
    },
  };
}

function openDestination(path: string): AppendedFile | null {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rotateIfFull(path);
    return new AppendedFile(path);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return null;
  }
}

/** A redacting logger for any destination. */
export function createLog(destination: pino.DestinationStream): Logger {
  return pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: (fields) => redactFields(fields, maxDepth) },
      serializers: { error: serializeError },
    },
    destination,
  );
}

interface RequestLog {
  log: LogRequest;
  /** Writes pending lines. */
  flush(): void;
}

/**
 * Formats the lines of requests itself and writes them in batches. They contain no fields that need redaction, and
 * pino's separate write for each line costs more than all other accounting of a request.
 */
export function createRequestLog(destination: pino.DestinationStream): RequestLog {
  let waiting = '';
  const flush = () => {
    if (waiting === '') return;
    destination.write(waiting);
    waiting = '';
  };
  let latest: RequestRecord | undefined;
  let fields = '';
  const log = (record: RequestRecord) => {
    const { id, totalMs } = record;
    // Most requests differ from the previous one only in id and time. A line then consists of few pieces.
    if (!latest || !isAlike(latest, record)) fields = fieldsOf(record);
    latest = record;
    waiting += `{"level":${infoLevel},"time":"${isoTime(Date.now())}","id":"${id}",${fields},"ms":${Math.round(totalMs)},"msg":"request"}\n`;
    if (waiting.length >= batchLength) flush();
  };
  return { log, flush };
}

function fieldsOf({ method, route, keyId, modelAsked, provider, status, outcome, errorCode }: RequestRecord): string {
  const error = errorCode === null ? '' : `,"error":${JSON.stringify(errorCode)}`;
  return (
    `"route":${JSON.stringify(`${method} ${route}`)},"key":${JSON.stringify(keyId)},` +
    `"model":${JSON.stringify(modelAsked)},"provider":${JSON.stringify(provider)},` +
    `"status":${status},"outcome":"${outcome}"${error}`
  );
}

/** Whether `fieldsOf` returns the same for both. */
function isAlike(one: RequestRecord, other: RequestRecord): boolean {
  return (
    one.route === other.route &&
    one.method === other.method &&
    one.keyId === other.keyId &&
    one.modelAsked === other.modelAsked &&
    one.provider === other.provider &&
    one.status === other.status &&
    one.outcome === other.outcome &&
    one.errorCode === other.errorCode
  );
}

let latestSecond = 0;
/** Without milliseconds: `2026-01-31T12:00:00.`. */
let latestTime = '';

/** Formats all but the milliseconds once per second. */
function isoTime(atMs: number): string {
  const second = Math.floor(atMs / 1_000);
  if (second !== latestSecond) {
    latestSecond = second;
    latestTime = new Date(atMs).toISOString().slice(0, -'000Z'.length);
  }
  return `${latestTime}${String(atMs - second * 1_000).padStart(3, '0')}Z`;
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const redacted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (isSecretField(name)) redacted[name] = '[redacted]';
    else redacted[name] = isPlain(value) && depth > 0 ? redactFields(value, depth - 1) : value;
  }
  return redacted;
}

/** Cached by name, because it is called for every field of every line. */
function isSecretField(name: string): boolean {
  let isSecret = judgedFields.get(name);
  if (isSecret === undefined) {
    isSecret = secretFields.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
    if (judgedFields.size < maxJudgedFields) judgedFields.set(name, isSecret);
  }
  return isSecret;
}

function isPlain(value: unknown): value is object {
  return value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
}

/** Message, code and stack only, because undici attaches response headers to `ResponseError`. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? redactLogText(error) : 'unknown error';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const cause = error.cause === undefined ? undefined : serializeError(error.cause);
  return {
    name: error.name,
    message: redactLogText(error.message),
    code,
    stack: redactLogText(error.stack ?? ''),
    cause,
  };
}

/** For texts from other sources, such as error messages. */
export function redactLogText(text: string): string {
  return redactSecretShapes(text.replace(secretTexts, '[redacted]'));
}

/** Renames the file if it is full. Returns false if it is not, or if the folder's permissions do not allow it. */
function rotateIfFull(path: string): boolean {
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < maxBytes) return false;
    for (let number = keptFiles - 1; number > 0; number--) {
      const older = number === 1 ? path : `${path}.${number - 1}`;
      if (existsSync(older)) renameSync(older, `${path}.${number}`);
    }
    return true;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}

/** Lines are buffered until they reach this size or are flushed, because each write occupies a thread of the pool. */
const bufferLength = 64 * 1024;
/** Kept while writing fails; beyond this, new lines are lost. */
const maxPendingLength = 16 * 1024 * 1024;

/**
 * A file to which lines are appended in the background. No disk holds up the program: what cannot be written is kept
 * for the next attempt, up to a limit, and the end waits only for a given time.
 */
export class AppendedFile {
  /** Null once it is closed: the system gives its number to the next file that is opened. */
  #descriptor: number | null;
  /** What is being written. */
  #rest: Buffer | null = null;
  #pending = '';
  #lostLines = 0;
  #isEnding = false;
  #isFinished = false;
  /** Resolves once nothing more is written, or for `finish` is waited no longer. */
  readonly #settled = Promise.withResolvers<void>();

  /** Throws the system's error if the file cannot be opened. Only this user may read a new one. */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'a', 0o600);
  }

  /** After the end, lines are lost. */
  write(lines: string): void {
    if (this.#descriptor === null || this.#pending.length + lines.length > maxPendingLength) {
      this.#lostLines += countLines(lines);
      return;
    }
    this.#pending += lines;
    if (this.#pending.length >= bufferLength) this.flush();
  }

  /** Begins to write what is pending. */
  flush(): void {
    if (this.#rest === null && this.#pending !== '') this.#next();
  }

  /** Writes what is pending, and then closes the file. A second call does nothing. */
  end(): void {
    this.#isEnding = true;
    if (this.#rest === null) this.#next();
  }

  /** Like `end`. Resolves when that is done or cannot be done, and after `limitMs` in any case. */
  async finish(limitMs: number): Promise<void> {
    this.end();
    const timer = after(this.#settled.resolve, limitMs);
    await this.#settled.promise;
    clearTimeout(timer);
    this.#isFinished = true;
  }

  /** How many lines were lost or are not written yet. */
  get unwrittenLines(): number {
    return this.#lostLines + countLines(this.#rest?.toString() ?? '') + countLines(this.#pending);
  }

  /** After `finish`: a write has neither succeeded nor failed. */
  get isStuck(): boolean {
    return this.#isFinished && this.#rest !== null;
  }

  #next(): void {
    const descriptor = this.#descriptor;
    if (descriptor === null || this.#pending === '') {
      this.#stop();
      return;
    }
    const rest = Buffer.from(this.#pending);
    this.#pending = '';
    this.#writeRest(descriptor, rest);
  }

  #writeRest(descriptor: number, rest: Buffer): void {
    this.#rest = rest;
    write(descriptor, rest, (error, written) => {
      if (error) this.#failed(rest);
      else if (written < rest.length) this.#writeRest(descriptor, rest.subarray(written));
      else this.#written();
    });
  }

  #written(): void {
    this.#rest = null;
    if (this.#isEnding || this.#pending.length >= bufferLength) this.#next();
  }

  #failed(rest: Buffer): void {
    this.#rest = null;
    this.#pending = rest.toString() + this.#pending;
    if (this.#isEnding) this.#stop();
  }

  #stop(): void {
    if (this.#isEnding && this.#descriptor !== null) {
      close(this.#descriptor, () => {});
      this.#descriptor = null;
    }
    this.#settled.resolve();
  }
}

function countLines(text: string): number {
  let lines = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines++;
  return lines;
}
