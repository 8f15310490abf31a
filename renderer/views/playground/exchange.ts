/** One call to the gateway as the playground shows it: what was sent, what came back, how long it took. */
import { callGateway, errorMessageOf, type GatewayCall } from '../../gateway-api.ts';
import { parseJson } from './json-path.ts';
import { createStreamWatch, errorOfWhole, type StreamFault } from './stream-watch.ts';

export interface Exchange {
  method: string;
  path: string;
  /** As JSON, or a form's parts by name. */
  requestText: string;
  isRunning: boolean;
  /** Null until the headers are here. */
  status: number | null;
  /** Sluice's id of it, by which the requests screen knows it. */
  requestId: string | null;
  /** As it came so far; what is not text is described. */
  replyText: string;
  headersMs: number | null;
  totalMs: number | null;
  /** Null as long as there may be a reply to use. */
  failure: Failure | null;
}

/**
 * Why there is no reply to use: what the gateway says, an error that a stream tells after it has begun, a reply that ends too
 * soon, that it was stopped, or that the key's secret is gone.
 */
export type Failure =
  | { kind: 'refused'; status: number; message: string }
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
  /** Pieces of a text as they come, of a reply that is no error. */
  onText?: ((piece: string) => void) | undefined;
}

const mostShownChars = 200_000;

export function begin({ method = 'POST', path, body }: Omit<GatewayCall, 'secret'>): Exchange {
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

/** Whether the same may be answered if it is asked again later. */
export function mayPass(failure: Failure): boolean {
  if (failure.kind !== 'refused') return failure.kind === 'unreachable' || failure.kind === 'cut';
  return failure.status >= 500 || failure.status === 429 || failure.status === 408;
}

/** Carries it out, telling how it goes. */
export async function carryOut(call: GatewayCall, listener: ExchangeListener): Promise<Outcome> {
  const startedAt = performance.now();
  const sinceStart = () => performance.now() - startedAt;
  const end = (outcome: Outcome): Outcome => {
    listener.onChange({ isRunning: false, totalMs: sinceStart(), failure: outcome.failure });
    return outcome;
  };
  let hasBegun = false;
  try {
    const response = await callGateway(call);
    hasBegun = true;
    listener.onChange({
      status: response.status,
      requestId: response.headers.get('x-sluice-request-id'),
      headersMs: sinceStart(),
    });
    const { reply, fault } = await readReply(response, listener);
    if (response.ok) return end(fault ? { reply: null, failure: fault } : { reply, failure: null });
    const { status } = response;
    return end({ reply: null, failure: { kind: 'refused', status, message: errorMessageOf(reply.text) } });
  } catch {
    const kind = hasBegun ? 'cut' : 'unreachable';
    return end({ reply: null, failure: { kind: call.signal?.aborted ? 'stopped' : kind } });
  }
}

interface ReadReply {
  reply: Reply;
  /** It came with a status of success, and is none. */
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
  const text = await readText(response, (piece, all) => {
    listener.onChange({ replyText: shorten(all) });
    watch?.push(piece);
    if (response.ok) listener.onText?.(piece);
  });
  const reply = { contentType, blob: new Blob([text], { type: contentType }), text };
  return { reply, fault: watch ? watch.fault() : faultOf(contentType, text) };
}

function faultOf(contentType: string, text: string): StreamFault | null {
  const message = contentType.includes('json') ? errorOfWhole(parseJson(text)) : null;
  return message === null ? null : { kind: 'told', message };
}

async function readText(response: Response, onPiece: (piece: string, all: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let all = '';
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const piece = decoder.decode(read.value, { stream: true });
    all += piece;
    onPiece(piece, all);
  }
  return all;
}

/** Images in JSON are long, and a browser slow to draw them as text. */
function shorten(text: string): string {
  return text.length > mostShownChars ? `${text.slice(0, mostShownChars)}…` : text;
}

function describeForm(form: FormData): string {
  return [...form.entries()]
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : `(${value.type}, ${value.size} B)`}`)
    .join('\n');
}
