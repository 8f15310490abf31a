/** What a caller makes of an answer: whole, an honest error, or neither. */
import type { OpenAiCall } from './openai-calls.ts';

export interface Received {
  status: number;
  /** All that came, also if the connection broke. */
  body: Buffer;
  isBroken: boolean;
}

/** Reads an answer to its end, however that comes. */
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

/** The whole right answer: of a call that was not interrupted byte for byte; else as an SDK puts it together. */
export function isWhole(call: OpenAiCall, { status, body, isBroken }: Received): boolean {
  if (status !== 200 || isBroken) return false;
  if (body.equals(call.answer.bytes)) return true;
  if (call.kind !== 'stream') return false;
  const got = readStream(body.toString());
  const right = readStream(call.answer.bytes.toString());
  return got.error === null && got.isComplete && got.content === right.content && got.finishes === right.finishes;
}

/** The caller cannot take it for a success: an error status, an error event, or a connection that visibly breaks. */
export function isHonestFailure(call: OpenAiCall, { status, body, isBroken }: Received): boolean {
  if (status >= 400) return true;
  return isBroken || (call.kind === 'stream' && readStream(body.toString()).error !== null);
}

interface StreamRead {
  /** Every piece of content, joined. */
  content: string;
  /** How often it said that it is done; a stream that was put together from two must not say it twice. */
  finishes: number;
  isComplete: boolean;
  error: unknown;
}

const terminalTypes =
  /^(response\.(completed|incomplete)|image_\w+\.completed|transcript\.text\.done|speech\.audio\.done)$/;

/** As both SDKs do: events by blank lines, `data` as JSON; throws on what is no JSON. */
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
  // A chat stream without `[DONE]` is complete once every choice has its reason.
  if (read.finishes > 0 && event.choices) read.isComplete = true;
}
