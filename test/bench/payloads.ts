/**
 * Parses HTTP/1.1 messages from a socket's pieces, for both ends of the bench. It implements only what the bench needs
 * (no trailers, no chunk extensions, bodies only by length or in chunks), so that the gateway between the two ends
 * dominates the measurement.
 */

interface MessageHandlers {
  /** The start line and the headers. */
  onHead(head: string): void;
  /** A piece of the body. It is only valid during the call. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

const blankLine = '\r\n\r\n';
const LF = 0x0a;
const CR = 0x0d;

export class MessageReader {
  readonly #handlers: MessageHandlers;
  #partialHead: Buffer = Buffer.alloc(0);
  #inBody = false;
  #chunked = false;
  /** Remaining bytes of the body or of its current chunk. */
  #left = 0;
  #chunkSize = 0;
  #hasDigits = false;
  #lastChunkSeen = false;

  constructor(handlers: MessageHandlers) {
    this.#handlers = handlers;
  }

  push(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      if (!this.#inBody) at = this.#readHead(piece, at);
      else if (this.#left > 0) at = this.#readBody(piece, at);
      else at = this.#readChunkLine(piece, at);
    }
  }

  #readHead(piece: Buffer, from: number): number {
    const known = this.#partialHead.length;
    const bytes = known > 0 ? Buffer.concat([this.#partialHead, piece.subarray(from)]) : piece.subarray(from);
    const end = bytes.indexOf(blankLine);
    if (end === -1) {
      this.#partialHead = Buffer.from(bytes);
      return piece.length;
    }
    this.#partialHead = Buffer.alloc(0);
    this.#beginBody(bytes.toString('latin1', 0, end));
    return from + end + blankLine.length - known;
  }

  #beginBody(head: string): void {
    this.#handlers.onHead(head);
    this.#inBody = true;
    this.#chunked = /\ntransfer-encoding: *chunked/i.test(head);
    this.#left = this.#chunked ? 0 : Number(/\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (!this.#chunked && this.#left === 0) this.#endBody();
  }

  #readBody(piece: Buffer, from: number): number {
    const to = Math.min(from + this.#left, piece.length);
    this.#left -= to - from;
    this.#handlers.onBody(piece.subarray(from, to));
    if (this.#left === 0 && !this.#chunked) this.#endBody();
    return to;
  }

  /**
   * Reads byte by byte, because pieces may be cut anywhere. A line without digits ends a chunk, or the body after a
   * chunk of size 0.
   */
  #readChunkLine(piece: Buffer, from: number): number {
    const byte = piece[from] ?? LF;
    if (byte === LF) this.#endChunkLine();
    else if (byte !== CR) {
      this.#chunkSize = this.#chunkSize * 16 + hexDigit(byte);
      this.#hasDigits = true;
    }
    return from + 1;
  }

  #endChunkLine(): void {
    if (this.#hasDigits) {
      this.#left = this.#chunkSize;
      this.#lastChunkSeen = this.#chunkSize === 0;
      this.#chunkSize = 0;
      this.#hasDigits = false;
    } else if (this.#lastChunkSeen) {
      this.#lastChunkSeen = false;
      this.#endBody();
    }
  }

  #endBody(): void {
    this.#inBody = false;
    this.#handlers.onEnd();
  }
}

function hexDigit(byte: number): number {
  return byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
}

/**
 * Requests and answers that both ends know, so that the load generator can compare each answer with the expected one
 * byte for byte. A request names its answer in the field `user`, which every gateway passes on.
 */

export const clientKey = 'sk-bench-client-0123456789abcdef0123456789abcdef';
export const model = 'bench';

export type RequestName = 'short' | 'long-question' | 'long-answer' | 'paced' | 'full' | 'full-asked' | 'upload';

/** The address of a gateway or upstream on loopback. */
export interface Address {
  port: number;
  /** Additional headers that this gateway's requests need. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export const eventGapMs = 20;
export const uploadBytes = 25 * 1024 * 1024;
/** The most bytes that a multipart body may have beyond its file. */
export const uploadFramingBytes = 4096;

const eventCounts = { paced: 60, full: 2000 };
const answerBytes = { short: 1_200, 'long-answer': 32 * 1024 };
const usage = { prompt_tokens: 310, completion_tokens: 152, total_tokens: 462 };
const boundary = 'bench-boundary-5d1c';

/** Plain answers by their name in `user`. */
export const plainAnswers: Readonly<Record<'short' | 'long-answer', Buffer>> = {
  short: chatAnswer(answerBytes.short),
  'long-answer': chatAnswer(answerBytes['long-answer']),
};

export const uploadAnswer = Buffer.from('{"text":"received"}');

interface StreamShape {
  /** One of `count` equal events. */
  event: Buffer;
  count: number;
  /** The bytes after the events. */
  end: Buffer;
}

/**
 * A stream in OpenAI's format. If usage is requested, every event contains `"usage":null`, and an additional event
 * contains the usage.
 */
export function streamShape(name: 'paced' | 'full', usageAsked: boolean): StreamShape {
  const none = usageAsked ? { usage: null } : {};
  const delta = { index: 0, delta: { content: ' word' }, logprobs: null, finish_reason: null };
  const stop = { index: 0, delta: {}, logprobs: null, finish_reason: 'stop' };
  const end = [chunkEvent({ choices: [stop], ...none }), 'data: [DONE]\n\n'];
  if (usageAsked) end.splice(1, 0, chunkEvent({ choices: [], usage }));
  return {
    event: Buffer.from(chunkEvent({ choices: [delta], ...none })),
    count: eventCounts[name],
    end: Buffer.from(end.join('')),
  };
}

/** The number of events in an answer to the request; 1 if the answer is not a stream. */
export function eventsOf(name: RequestName): number {
  if (name === 'paced') return eventCounts.paced;
  return name === 'full' || name === 'full-asked' ? eventCounts.full : 1;
}

/** The body that the client must receive. It contains no usage if the client did not request it. */
export function expectedBody(name: RequestName): Buffer {
  if (name === 'upload') return uploadAnswer;
  if (name === 'long-answer') return plainAnswers['long-answer'];
  if (name === 'short' || name === 'long-question') return plainAnswers.short;
  const { event, count, end } = streamShape(name === 'paced' ? 'paced' : 'full', name === 'full-asked');
  return Buffer.concat([...Array.from({ length: count }, () => event), end]);
}

/** The whole request as sent over the socket. */
export function buildRequest(name: RequestName, { port, headers = {} }: Address): Buffer {
  const isUpload = name === 'upload';
  const body = isUpload ? uploadBody() : Buffer.from(JSON.stringify(chatRequest(name)));
  const head = [
    `POST /v1/${isUpload ? 'audio/transcriptions' : 'chat/completions'} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${clientKey}`,
    `content-type: ${isUpload ? `multipart/form-data; boundary=${boundary}` : 'application/json'}`,
    'accept: application/json',
    'user-agent: bench',
    ...Object.entries(headers).map(([field, value]) => `${field}: ${value}`),
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

function chatRequest(name: RequestName): object {
  const isStream = name === 'paced' || name === 'full' || name === 'full-asked';
  const answer = name === 'long-question' ? 'short' : name === 'full-asked' ? 'full' : name;
  return {
    model,
    user: answer,
    messages: [
      { role: 'system', content: 'Answer in short sentences and say when you are not sure. '.repeat(15) },
      ...(name === 'long-question' ? earlierTurns(100 * 1024) : []),
      { role: 'user', content: 'Explain what a reverse proxy does, and when one is useful.' },
    ],
    temperature: 0.7,
    max_tokens: 256,
    ...(isStream && { stream: true }),
    ...(name === 'full-asked' && { stream_options: { include_usage: true } }),
  };
}

function earlierTurns(bytes: number): object[] {
  const content = 'An earlier turn of a long talk, with a "quoted" word, a new line\n and some ünïcode. '.repeat(12);
  const count = Math.round(bytes / Buffer.byteLength(content));
  return Array.from({ length: count }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
}

function uploadBody(): Buffer {
  return Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--${boundary}\r\n` +
        'Content-Disposition: form-data; name="file"; filename="speech.wav"\r\nContent-Type: audio/wav\r\n\r\n',
    ),
    Buffer.alloc(uploadBytes, 'speech'),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
}

function chatAnswer(bytes: number): Buffer {
  const answer = (content: string) => ({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_750_000_000,
    model,
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
    usage,
    service_tier: 'default',
  });
  const missing = bytes - JSON.stringify(answer('')).length;
  return Buffer.from(JSON.stringify(answer('word '.repeat(Math.ceil(missing / 5)).slice(0, missing))));
}

function chunkEvent(fields: object): string {
  const base = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_750_000_000, model };
  return `data: ${JSON.stringify({ ...base, service_tier: 'default', system_fingerprint: 'fp_bench', ...fields })}\n\n`;
}
