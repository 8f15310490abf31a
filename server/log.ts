/**
 * The program's log: lines of JSON in `sluice.log` of a data folder, written beside the requests and not in them. Owns
 * what must never stand in it, and how much is kept. Bodies and headers are not logged at all; the redaction is for the
 * day on which somebody logs an object that holds some.
 */
import { existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pino, { type Logger } from 'pino';
import type { RequestRecord } from './contract/ledger.ts';
import { systemErrorCode } from './files/file-problem.ts';

export interface LogFile {
  log: Logger;
  logRequest: LogRequest;
  path: string;
  /** Writes what waits; at the end of the program, where nothing can be awaited. */
  flush(): void;
}

/** Writes one line about a request: what one looks for when something is slow or fails. */
export type LogRequest = (record: RequestRecord) => void;

const maxBytes = 10 * 1024 * 1024;
/** `sluice.log`, `sluice.log.1`, `sluice.log.2`. */
const keptFiles = 3;
/** Lines wait for a write of this size, or until the timer: each write costs a turn of another thread. */
const bufferBytes = 64 * 1024;
const mostBytesPerWrite = 256 * 1024;
const flushEveryMs = 500;

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
/** What looks like a secret in a text: `sk-…` of any service, and whatever stands behind `Bearer`. */
const secretTexts = /\bsk-[\w-]{8,}|(?<=\bbearer )\S+/gi;

/** Where the file cannot be opened now (a read-only folder), lines are lost until it can be. */
export function openLogFile(folder: string): LogFile {
  const path = join(folder, 'sluice.log');
  // Opened at once: a program that fails in its first moments has something to say.
  let destination = openDestination(path);
  const requests = createRequestLog({ write: (lines) => void destination?.write(lines) });
  const timer = setInterval(() => {
    requests.flush();
    destination?.flush();
    if (destination && putAsideIfFull(path)) {
      // What it still holds goes with the file, whatever that is called now.
      destination.end();
      destination = null;
    }
    destination ??= openDestination(path);
  }, flushEveryMs).unref();
  // The requests before it go first, so that the file tells what happened in order.
  const write = (line: string) => {
    requests.flush();
    destination?.write(line);
  };
  return {
    log: createLog({ write }),
    logRequest: requests.log,
    path,
    flush: () => {
      clearInterval(timer);
      try {
        requests.flush();
        destination?.flushSync();
      } catch {
        // The disk is full; there is nobody left to tell.
      }
    },
  };
}

function openDestination(path: string): ReturnType<typeof pino.destination> | null {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    putAsideIfFull(path);
    const dest = openSync(path, 'a', 0o600);
    const destination = pino.destination({ dest, sync: false, minLength: bufferBytes, maxWrite: mostBytesPerWrite });
    // A full disk must not end the program.
    destination.on('error', () => {});
    return destination;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return null;
  }
}

/** A logger that redacts, on any destination. */
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
  /** Hands over the lines that wait. */
  flush(): void;
}

/**
 * The lines of requests look like all others but are put together here, and handed over many at a time: they hold none
 * of the fields that need redaction, and pino's way, a write for each, is dearer than all else that is noted of a request.
 */
export function createRequestLog(destination: pino.DestinationStream): RequestLog {
  let waiting = '';
  const flush = () => {
    if (waiting === '') return;
    destination.write(waiting);
    waiting = '';
  };
  const log = (record: RequestRecord) => {
    const { id, method, route, keyId, modelAsked, provider, status, outcome, errorCode, totalMs } = record;
    const error = errorCode === null ? '' : `,"error":${JSON.stringify(errorCode)}`;
    waiting +=
      `{"level":${infoLevel},"time":"${new Date().toISOString()}","id":"${id}",` +
      `"route":${JSON.stringify(`${method} ${route}`)},"key":${JSON.stringify(keyId)},` +
      `"model":${JSON.stringify(modelAsked)},"provider":${JSON.stringify(provider)},` +
      `"status":${status},"outcome":"${outcome}"${error},"ms":${Math.round(totalMs)},"msg":"request"}\n`;
    if (waiting.length >= bufferBytes) flush();
  };
  return { log, flush };
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const redacted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (isSecretField(name)) redacted[name] = '[redacted]';
    else redacted[name] = isPlain(value) && depth > 0 ? redactFields(value, depth - 1) : value;
  }
  return redacted;
}

/** Remembered by name, since this is asked for every field of every line. */
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

/** Message, code and stack, and nothing that somebody hung on the error: undici hangs headers on some. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? redactText(error) : 'unknown error';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const cause = error.cause === undefined ? undefined : serializeError(error.cause);
  return { name: error.name, message: redactText(error.message), code, stack: redactText(error.stack ?? ''), cause };
}

/** For texts that others made, such as the messages of errors. */
export function redactText(text: string): string {
  return text.replace(secretTexts, '[redacted]');
}

/** Whether it did: a folder that does not let it keeps its file. */
function putAsideIfFull(path: string): boolean {
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
