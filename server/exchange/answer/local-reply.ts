/**
 * Answers that no provider gives for this request: whole ones of Sluice's own, and stored ones, such as recorded or
 * cached.
 */
import type { ServerResponse } from 'node:http';
import { after } from '../../ground/timers.ts';
import type { Answerer, ClientResponse } from './client-response.ts';

/** A whole answer that no provider gave. */
export interface LocalReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Sends a 200 with JSON. Returns what was sent. */
export function sendJson(response: ServerResponse, value: unknown, requestId: string): LocalReply {
  const body = Buffer.from(JSON.stringify(value));
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-request-id': requestId,
    'x-sluice-request-id': requestId,
  };
  response.writeHead(200, headers).end(body);
  return { status: 200, headers, body };
}

// Sends a stored answer, such as a recorded or cached one: at its original pace, or at once.

export interface StoredPiece {
  /** When the piece was sent, in milliseconds since the request arrived. */
  afterMs: number;
  bytes: Buffer;
}

export interface StoredAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  /** In the order in which they were sent. */
  pieces: readonly StoredPiece[];
  /** The connection broke after the last piece. */
  isCut: boolean;
}

/** A factor on the recorded times: 1 keeps the original pace, 0 sends all pieces at once. */
export type Pace = number;

/**
 * Sends the answer. Resolves when its last piece is written, or at once when the client has left (`clientGone`).
 */
export async function sendStored(
  client: ClientResponse,
  answer: StoredAnswer,
  { pace, answerer, clientGone }: { pace: Pace; answerer: Answerer | null; clientGone: AbortSignal },
): Promise<void> {
  const startMs = performance.now();
  const isDue = (piece: StoredPiece | undefined) =>
    waitUntil(startMs + (piece?.afterMs ?? 0) * pace, clientGone).then(() => !clientGone.aborted);
  if (!(await isDue(answer.pieces[0]))) return;
  client.begin(answer.status, answer.headers, answerer);
  const isWhole = pace === 0 && !answer.isCut;
  if (isWhole) return client.end(outcomeOf(answer), null, joinPieces(answer));
  for (const piece of answer.pieces) {
    if (!(await isDue(piece))) return;
    await writeAndWait(client, piece.bytes, clientGone);
  }
  if (clientGone.aborted) return;
  if (answer.isCut) client.cut();
  else client.end(outcomeOf(answer), null);
}

/** A single piece is sent without a copy, so that all its recipients share the memory. */
function joinPieces({ pieces }: StoredAnswer): Buffer {
  const [only, ...others] = pieces.map(({ bytes }) => bytes);
  return only && others.length === 0 ? only : Buffer.concat(pieces.map(({ bytes }) => bytes));
}

function outcomeOf({ status }: StoredAnswer): 'ok' | 'error' {
  return status < 400 ? 'ok' : 'error';
}

function waitUntil(dueMs: number, clientGone: AbortSignal): Promise<void> {
  const waitMs = dueMs - performance.now();
  if (waitMs <= 0 || clientGone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      clientGone.removeEventListener('abort', settle);
      resolve();
    };
    const timer = after(settle, waitMs);
    clientGone.addEventListener('abort', settle);
  });
}

/** Resolves when the client is ready for more. */
function writeAndWait(client: ClientResponse, bytes: Buffer, clientGone: AbortSignal): Promise<void> | undefined {
  let ready: PromiseWithResolvers<void> | undefined;
  client.write(bytes, {
    pause: () => {
      ready = Promise.withResolvers<void>();
      clientGone.addEventListener('abort', () => ready?.resolve(), { once: true });
    },
    resume: () => ready?.resolve(),
  });
  return ready?.promise;
}
