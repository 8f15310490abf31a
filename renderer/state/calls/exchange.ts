/** One call to the gateway as the playground shows it: request, response and timing. */
import { callGateway, errorTextOf, type GatewayCall } from './gateway-api.ts';
import { at, parseJson, textAt } from './json-path.ts';

export interface Exchange {
  method: string;
  path: string;
  /** JSON, or the parts of a form by name. */
  requestText: string;
  isRunning: boolean;
  /** Null until the headers have arrived. */
  status: number | null;
  /** Sluice's id of the request, as used on the Requests screen. */
  requestId: string | null;
  /** The text received so far, or a description of binary data. */
  replyText: string;
  headersMs: number | null;
  totalMs: number | null;
  /** Null while the call is running or if it succeeded. */
  failure: Failure | null;
}

/**
 * Why there is no usable reply: an error from the gateway, an error event within a stream, a reply that ended too
 * early, an abort by the person, a gateway that does not answer, or a key whose secret is gone.
 */
export type Failure =
  | { kind: 'refused'; status: number; message: string /** All of it, if the message is not. */; whole: string | null }
  | StreamFault
  | { kind: 'stopped' }
  | { kind: 'unreachable' }
  | { kind: 'keyless' };

export type Outcome = { reply: Reply; failure: null } | { reply: null; failure: Failure };

export interface Reply {
  contentType: string;
  blob: Blob;
  /** Empty if it is not text. */
  text: string;
}

interface ExchangeListener {
  onChange(change: Partial<Exchange>): void;
  /** Receives pieces of text as they arrive, unless the reply is an error. */
  onText?: ((chunk: string) => void) | undefined;
}

const mostShownChars = 200_000;

export function newExchange({ method = 'POST', path, body }: Omit<GatewayCall, 'secret'>): Exchange {
  return {
    method,
    path: `/v1${path}`,
    requestText: body instanceof FormData ? describeForm(body) : body ? JSON.stringify(body, null, 2) : '',
    isRunning: true,
    status: null,
    requestId: null,
    replyText: '',
    headersMs: null,
    totalMs: null,
    failure: null,
  };
}

/** Whether the same call may succeed later. */
export function isTemporary(failure: Failure): boolean {
  if (failure.kind !== 'refused') return failure.kind === 'unreachable' || failure.kind === 'cut';
  return failure.status >= 500 || failure.status === 429 || failure.status === 408;
}

/** Carries out the call and reports its progress. */
export async function runExchange(call: GatewayCall, listener: ExchangeListener): Promise<Outcome> {
  const startedAt = performance.now();
  const sinceStart = () => performance.now() - startedAt;
  const end = (outcome: Outcome): Outcome => {
    listener.onChange({ isRunning: false, totalMs: sinceStart(), failure: outcome.failure });
    return outcome;
  };
  let hasResponse = false;
  try {
    const response = await callGateway(call);
    hasResponse = true;
    listener.onChange({
      status: response.status,
      requestId: response.headers.get('x-sluice-request-id'),
      headersMs: sinceStart(),
    });
    const { reply, fault } = await readReply(response, listener);
    if (response.ok) return end(fault ? { reply: null, failure: fault } : { reply, failure: null });
    const { status } = response;
    return end({ reply: null, failure: { kind: 'refused', status, ...errorTextOf(reply.text) } });
  } catch {
    const kind = hasResponse ? 'cut' : 'unreachable';
    return end({ reply: null, failure: { kind: call.signal?.aborted ? 'stopped' : kind } });
  }
}

interface ReadReply {
  reply: Reply;
  /** Set if the status was a success, but the reply is an error or incomplete. */
  fault: StreamFault | null;
}

async function readReply(response: Response, listener: ExchangeListener): Promise<ReadReply> {
  const contentType = response.headers.get('content-type') ?? '';
  if (!/json|^text\/|event-stream/.test(contentType)) {
    const blob = await response.blob();
    listener.onChange({ replyText: `(${contentType || '?'}, ${blob.size} B)` });
    return { reply: { contentType, blob, text: '' }, fault: null };
  }
  const watch = contentType.includes('event-stream') ? createStreamWatch() : null;
  const text = await readText(response, (chunk, all) => {
    listener.onChange({ replyText: shorten(all) });
    watch?.push(chunk);
    if (response.ok) listener.onText?.(chunk);
  });
  const reply = { contentType, blob: new Blob([text], { type: contentType }), text };
  return { reply, fault: watch ? watch.fault() : faultOf(contentType, text) };
}

function faultOf(contentType: string, text: string): StreamFault | null {
  const message = contentType.includes('json') ? errorOfWhole(parseJson(text)) : null;
  return message === null ? null : { kind: 'told', message };
}

async function readText(response: Response, onPiece: (chunk: string, all: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let all = '';
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const chunk = decoder.decode(read.value, { stream: true });
    all += chunk;
    onPiece(chunk, all);
  }
  return all;
}

/** Images in JSON are long, and browsers are slow to render them as text. */
function shorten(text: string): string {
  return text.length > mostShownChars ? `${text.slice(0, mostShownChars)}…` : text;
}

function describeForm(form: FormData): string {
  return [...form.entries()]
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : `(${value.type}, ${value.size} B)`}`)
    .join('\n');
}

/** `told`: an event reported an error. `cut`: the stream ended without its final event. */
type StreamFault = { kind: 'told'; message: string } | { kind: 'cut' };

interface StreamWatch {
  push(chunk: string): void;
  /** To be called at the end; null if the stream was complete. */
  fault(): StreamFault | null;
}

const lastEvents = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** For streams of Chat Completions, legacy completions and Responses. */
export function createStreamWatch(): StreamWatch {
  let error: string | null = null;
  let isOver = false;
  const push = createDataLineReader(
    (event) => {
      error ??= errorIn(event);
      isOver ||= lastEvents.has(textAt(event, 'type') ?? '') || textAt(event, 'choices', 0, 'finish_reason') !== null;
    },
    () => {
      isOver = true;
    },
  );
  return {
    push,
    fault() {
      if (error !== null) return { kind: 'told', message: error };
      return isOver ? null : { kind: 'cut' };
    },
  };
}

/**
 * The error in an event: `{"error": …}`, `type: "error"` or `response.failed`. Null if there is none; empty if it has
 * no text.
 */
function errorIn(event: unknown): string | null {
  const type = textAt(event, 'type');
  const error = at(event, 'error') ?? at(event, 'response', 'error') ?? null;
  if (typeof error === 'string') return error;
  if (error !== null) return textAt(error, 'message') ?? textAt(error, 'code') ?? '';
  if (type === 'error') return textAt(event, 'message') ?? '';
  return type === 'response.failed' ? '' : null;
}

/** The error in a reply that is only an error, despite a success status. */
export function errorOfWhole(reply: unknown): string | null {
  // A job object contains its own failure, but is a valid reply.
  if (at(reply, 'id') !== undefined) return null;
  return errorIn(reply);
}

/** Reads an event stream in pieces and passes on the JSON of each complete `data:` line. Ignores other lines. */
export function createDataLineReader(
  onData: (data: unknown) => void,
  onDone: () => void = () => {},
): (chunk: string) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
      if (data === '[DONE]') onDone();
      else if (data.startsWith('{')) onData(parseJson(data));
    }
  };
}
