import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { type Recording, recordingIn } from '../../apis/core/recordings/recording-length.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operations.ts';
import type { Settings } from '../../contract/settings.ts';
import type { ForeignObjects } from '../../exchange/plan/plan-route.ts';
import type { RequestBody } from '../../exchange/request/request-body.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { EventLoopMonitor, Labelled } from '../../ground/event-loop-monitor.ts';
import { checkContentType, codingsOf } from './content-headers.ts';
import { emptyBody, FormBody } from './incoming-body.ts';
import { readJsonBody, readLooseJsonBody } from './json-body.ts';
import type { MultipartBody } from './multipart.ts';
import { receivePassthroughBody } from './passthrough-body.ts';
import { type BodyAccount, readBody, releaseBody, sharedBytes } from './read-body.ts';
import { spoolMemoryBytes } from './spool.ts';

const formType = boundedPattern(/^multipart\/form-data/i);

interface ReceiveOptions {
  match: RouteMatch;
  limits: Settings['limits'];
  /** The folder for spooled uploads. */
  folder: string;
  account: BodyAccount;
  /** Called with the request before its whole body is parsed. */
  eventLoopMonitor: EventLoopMonitor;
  trace: Labelled;
  /** The rest of a streamed body will not arrive; `RequestBody.fault` says why. */
  bodyBroke(): void;
  /** Keeps a body that cannot be used; null: nobody does. */
  unusable: ((start: Buffer, isCut: boolean) => void) | null;
  /** Passthrough bodies are read as a whole. */
  isHeld: boolean;
  /** Where objects of other groups are known. */
  foreignObjects(): ForeignObjects;
}

/**
 * Reads the body in the format given by its content type, if the route accepts it. JSON is accepted under any other content
 * type, since `curl -d` sends `application/x-www-form-urlencoded`.
 */
export function receiveBody(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReceiveOptions,
): RequestBody | Promise<RequestBody> {
  const { match } = options;
  const { route } = match;
  if (route.body === 'none') return emptyBody;
  if (route.body === 'passed') return receivePassthroughBody(request, response, options);
  checkContentType(request.headers['content-type']);
  const isForm = formType.test(request.headers['content-type'] ?? '');
  if (isForm && route.body === 'json') throw wrongType(match, 'application/json');
  if (!isForm && route.body === 'multipart') throw wrongType(match, 'multipart/form-data');
  return isForm ? receiveForm(request, response, options) : receiveJson(request, response, options);
}

async function receiveForm(
  request: IncomingMessage,
  response: ServerResponse,
  { match, folder, limits, account }: ReceiveOptions,
): Promise<RequestBody> {
  const maxBytes = limits.multipartBodyBytes;
  const isDecoded = codingsOf(request.headers).length > 0;
  const mostBytes = isDecoded ? maxBytes : Number(request.headers['content-length'] ?? maxBytes);
  // The rest of an upload is spooled to disk.
  const turn = account.reserve(Math.min(mostBytes, spoolMemoryBytes), false);
  if (turn) await turn;
  const onTextKept = (bytes: number) => account.add(bytes);
  // Its libraries are loaded with the first form: 20 ms, which a start need not wait for.
  const { receiveMultipart } = await import('./multipart.ts');
  const form = await receiveMultipart(request as Request, response as Response, { folder, maxBytes, onTextKept });
  if (!heard.has(match.route.wire.operation)) return new FormBody(form);
  try {
    return new FormBody(form, await recordingOf(form));
  } catch (error) {
    await form.spool.dispose();
    throw error;
  }
}

/** What is billed by the length of a recording. */
const heard: ReadonlySet<Operation> = new Set(['transcription', 'translation']);

/** The services take only one. */
async function recordingOf({ spool, ranges }: MultipartBody): Promise<Recording | null> {
  const file = ranges.find(({ name }) => name === 'file');
  if (!file) return null;
  const read = (at: number, bytes: number) => {
    const start = Math.min(file.end, file.start + at);
    return spool.read({ start, end: Math.min(file.end, start + bytes) });
  };
  return recordingIn({ size: file.end - file.start, read });
}

async function receiveJson(
  request: IncomingMessage,
  response: ServerResponse,
  { match, limits, account, eventLoopMonitor, trace, unusable }: ReceiveOptions,
): Promise<RequestBody> {
  const onBroken = unusable ? (start: Buffer) => unusable(start, true) : undefined;
  const bytes = await readBody(request, response, { maxBytes: limits.jsonBodyBytes, account, onBroken });
  if (bytes.length === 0 && match.route.model === 'none') return emptyBody;
  eventLoopMonitor.begin(trace);
  try {
    const { streamIn, stream, wire } = match.route;
    const isStream = streamIn === 'path' ? stream !== null : null;
    const body = wire.request.takesTrailingCommas ? readLooseJsonBody(bytes, isStream) : readJsonBody(bytes, isStream);
    return body instanceof Promise ? await body : body;
  } catch (error) {
    unusable?.(bytes, false);
    if (bytes.length > sharedBytes) releaseBody(bytes);
    throw error;
  }
}

function wrongType({ label }: RouteMatch, expected: string): GatewayError {
  return new GatewayError('unsupported_media_type', `Unsupported content type: ${label} takes ${expected}.`);
}
