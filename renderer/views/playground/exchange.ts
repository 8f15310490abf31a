/** One call to the gateway as the playground shows it: what was sent, what came back, how long it took. */
import { callGateway, errorMessageOf, type GatewayCall } from '../../gateway-api.ts';

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
  /** Why there is no reply to use: what the gateway says, or that it was stopped. */
  failure: { kind: 'refused'; message: string } | { kind: 'stopped' } | { kind: 'unreachable' } | null;
}

export interface Reply {
  contentType: string;
  blob: Blob;
  /** Empty if it is not text. */
  text: string;
}

export interface ExchangeListener {
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

/** Carries it out, telling how it goes. Null: it failed or was stopped. */
export async function carryOut(call: GatewayCall, listener: ExchangeListener): Promise<Reply | null> {
  const startedAt = performance.now();
  const sinceStart = () => performance.now() - startedAt;
  try {
    const response = await callGateway(call);
    listener.onChange({
      status: response.status,
      requestId: response.headers.get('x-sluice-request-id'),
      headersMs: sinceStart(),
    });
    const reply = await readReply(response, listener);
    const failure = response.ok ? null : ({ kind: 'refused', message: errorMessageOf(reply.text) } as const);
    listener.onChange({ isRunning: false, totalMs: sinceStart(), failure });
    return response.ok ? reply : null;
  } catch {
    const kind = call.signal?.aborted ? 'stopped' : 'unreachable';
    listener.onChange({ isRunning: false, totalMs: sinceStart(), failure: { kind } });
    return null;
  }
}

async function readReply(response: Response, listener: ExchangeListener): Promise<Reply> {
  const contentType = response.headers.get('content-type') ?? '';
  if (!/json|^text\/|event-stream/.test(contentType)) {
    const blob = await response.blob();
    listener.onChange({ replyText: `(${contentType || '?'}, ${blob.size} B)` });
    return { contentType, blob, text: '' };
  }
  const text = await readText(response, (piece, all) => {
    listener.onChange({ replyText: shorten(all) });
    if (response.ok) listener.onText?.(piece);
  });
  return { contentType, blob: new Blob([text], { type: contentType }), text };
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
