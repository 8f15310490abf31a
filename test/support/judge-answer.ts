/** Classifies an answer as its caller would: complete, an explicit error, or neither. */
import type { OpenAiCall } from './openai-calls.ts';

export interface Received {
  status: number;
  /** Everything that was received, even if the connection broke. */
  body: Buffer;
  isBroken: boolean;
}

/** Reads an answer until it ends in any way. */
export async function receive(response: Response): Promise<Received> {
  const { status } = response;
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of response.body ?? []) pieces.push(piece);
    return { status, body: Buffer.concat(pieces), isBroken: false };
  } catch {
    return { status, body: Buffer.concat(pieces), isBroken: true };
  }
}

/**
 * Whether the answer is complete and correct. A call without an interruption must match byte for byte; a stream may
 * also match as an SDK assembles it.
 */
export function isWhole(call: OpenAiCall, { status, body, isBroken }: Received): boolean {
  if (status !== 200 || isBroken) return false;
  if (body.equals(call.answer.bytes)) return true;
  if (call.kind !== 'stream') return false;
  const got = readStream(body.toString());
  const right = readStream(call.answer.bytes.toString());
  return got.error === null && got.isComplete && got.content === right.content && got.finishes === right.finishes;
}

/**
 * Whether the caller cannot mistake it for a success: an error status, an error event, or a connection that visibly
 * breaks.
 */
export function isHonestFailure(call: OpenAiCall, { status, body, isBroken }: Received): boolean {
  if (status >= 400) return true;
  return isBroken || (call.kind === 'stream' && readStream(body.toString()).error !== null);
}

interface StreamRead {
  /** All pieces of content, joined. */
  content: string;
  /** How often the stream reported its end. A stream assembled from two must not report it twice. */
  finishes: number;
  isComplete: boolean;
  error: unknown;
}

const terminalTypes =
  /^(response\.(completed|incomplete)|image_\w+\.completed|transcript\.text\.done|speech\.audio\.done)$/;

/** Parses like both SDKs: events are separated by blank lines, and `data` is JSON. Throws if it is not. */
export function readStream(text: string): StreamRead {
  const read: StreamRead = { content: '', finishes: 0, isComplete: false, error: null };
  for (const event of text.split(/\r?\n\r?\n/)) {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
    if (lines.length === 0) continue;
    const data = lines.map((line) => line.slice('data:'.length).trim()).join('\n');
    if (data === '[DONE]') read.isComplete = true;
    else take(read, JSON.parse(data));
  }
  return read;
}

interface AnyEvent {
  type?: string;
  error?: unknown;
  delta?: string;
  audio?: string;
  b64_json?: string;
  choices?: { text?: string; delta?: { content?: string | null }; finish_reason?: string | null }[];
}

function take(read: StreamRead, event: AnyEvent): void {
  if (event.error || event.type === 'error' || event.type === 'response.failed') read.error ??= event;
  for (const { text, delta, finish_reason } of event.choices ?? []) {
    read.content += text ?? delta?.content ?? '';
    if (finish_reason) read.finishes++;
  }
  read.content += event.delta ?? event.audio ?? event.b64_json ?? '';
  if (terminalTypes.test(event.type ?? '')) {
    read.finishes++;
    read.isComplete = true;
  }
  // A chat stream without `[DONE]` is complete once every choice has a finish reason.
  if (read.finishes > 0 && event.choices) read.isComplete = true;
}
