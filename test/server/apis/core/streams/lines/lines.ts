/**
 * A fictitious API: `POST /lines/{model}` with `{"ask": …}` is answered with `{"say": …}`, whole or in one line per
 * piece. It shows that an API can be added without changing any file of the engine.
 */
import type { Api } from '../../../../../../server/apis/core/api.ts';
import type { EventGate, Framing, GateOptions } from '../../../../../../server/apis/core/framing.ts';
import { plainRoute } from '../../../../../../server/apis/core/route.ts';
import type { StreamEvent } from '../../../../../../server/apis/core/sse-event.ts';
import type {
  EventMeaning,
  StreamClose,
  StreamEnd,
  StreamFormat,
  StreamWatch,
} from '../../../../../../server/apis/core/stream-format.ts';
import type { UsageFormat, Verdict, Wire } from '../../../../../../server/apis/core/wire.ts';
import type { ErrorBody } from '../../../../../../server/contract/errors.ts';
import { isObject } from '../../../../../../server/contract/is-object.ts';

const lineFeed = 0x0a;
const maxHeldBytes = 64 * 1024;

/** Lets whole lines through. */
class LineGate implements EventGate {
  insideEvent = false;
  readonly #write: (bytes: Buffer) => void;
  readonly #options: GateOptions;
  #rest = Buffer.alloc(0);

  constructor(write: (bytes: Buffer) => void, options: GateOptions) {
    this.#write = write;
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#rest, chunk]);
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed)) {
      this.#send(bytes.subarray(0, end + 1));
      bytes = bytes.subarray(end + 1);
    }
    this.#rest = bytes;
    if (!this.insideEvent && bytes.length > maxHeldBytes) this.#options.filter(bytes, false);
    this.insideEvent ||= bytes.length > maxHeldBytes;
    if (this.insideEvent) this.#write(this.takeRest());
  }

  takeRest(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
  }

  #send(line: Buffer): void {
    const { filter } = this.#options;
    const passing = this.insideEvent ? line : filter(line, true);
    this.insideEvent = false;
    if (passing) this.#write(passing);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One JSON object per line. */
const lineFraming: Framing = {
  contentType: 'application/x-ndjson',
  isStream: (contentType) => contentType.startsWith('application/x-ndjson'),
  openGate: (write, options) => new LineGate(write, options),
  readEvent: (line) => {
    const data = line.toString().trim();
    const value = parse(data);
    return value === undefined ? null : { name: '', data, value };
  },
  mayBeContent: () => true,
  readPartialEvent: () => ({ name: '', data: '', value: {} }),
  isKeepAlive: (line) => line.toString().trim() === '',
  kindOfRest: (rest, event) => (isObject(event?.value) ? 'event' : rest.length > 0 ? 'piece' : 'nothing'),
  beginsLikeAnEvent: () => false,
  keepAlive: Buffer.from('\n'),
};

const writeError = ({ message, code }: ErrorBody) => JSON.stringify({ fail: message, code });

function meaningOf({ value }: StreamEvent): EventMeaning {
  if (!isObject(value)) return { kind: 'nothing' };
  if ('say' in value) return { kind: 'content' };
  if (!('fail' in value)) return { kind: 'nothing' };
  const error = { message: String(value.fail), type: '', code: String(value.code), param: null, retryAfterMs: null };
  return { kind: 'error', error };
}

class LineWatch implements StreamWatch {
  readonly saysWhy = true;
  readonly missingEnd = '';
  #ending: StreamEnd | null = null;

  note({ value }: StreamEvent): void {
    if (isObject(value) && 'end' in value) this.#ending = 'complete';
    if (isObject(value) && 'fail' in value) this.#ending = 'failed';
  }

  counted(): void {}

  get isComplete(): boolean {
    return this.#ending !== null;
  }

  get hasFinished(): boolean {
    return this.isComplete;
  }

  get mayContinue(): boolean {
    return this.#ending === null;
  }

  get isWhole(): boolean {
    return this.#ending === 'complete';
  }

  ending(_close: StreamClose): StreamEnd | null {
    return this.#ending;
  }

  errorEvent(error: ErrorBody): string {
    return `${writeError(error)}\n`;
  }
}

const stream: StreamFormat = {
  framing: lineFraming,
  meaningOf,
  watch: () => new LineWatch(),
  writeError,
  fromWhole: () => null,
  mayBeginEarly: true,
  isDecidedByResponse: false,
};

const judge = (answer: Record<string, unknown>): Verdict =>
  'say' in answer ? { kind: 'answer' } : { kind: 'damaged', what: 'said nothing' };

/** `{"say": …, "words": 3}`, or the end of the last line. */
const wordsTold = /"words":(\d+)\}?\s*$/;

const usage: UsageFormat = {
  likely: () => ({ outputTokens: 10 }),
  worst: () => ({ outputTokens: 100 }),
  hints: () => ({}),
  read: ({ tail }) => {
    const words = wordsTold.exec(tail.toString())?.[1];
    if (words === undefined) return { usage: null, certainty: 'none', status: null };
    return { usage: { outputTokens: Number(words) }, certainty: 'reported', status: null };
  },
  text: {
    ofPrompt: (json) => json.toString().split(' ').length,
    ofAnswer: ({ tail }) => tail.toString().split('\n').length - 1,
    isOnlyPrompt: false,
  },
};

const ask: Wire = {
  name: 'lines-ask',
  operation: 'chat',
  request: {
    fields: [],
    answersAsked: () => 1,
    answersPaid: () => 1,
    isTextAsked: () => false,
    isOneText: () => true,
    isBackground: () => false,
    wantsUsage: () => true,
    conversationOf: () => null,
    temperatureOf: () => undefined,
    supportsPrefill: false,
  },
  usage,
  rescue: null,
  whole: { kind: 'json', marks: ['"say"'], isNeverLonger: true, maxHeldBytes: 1024 * 1024, isNumbers: false, judge },
  errorName: 'code',
  stream,
};

export const lines: Api = {
  name: 'lines',
  base: '',
  routes: [
    { ...plainRoute, method: 'POST', path: '/lines/:model', wire: ask, model: 'required', modelIn: 'path', stream },
  ],
  models: {
    askedIn: (path) => (path === '/lines/' ? '' : null),
    writeList: (models) => ({ voices: models.map(({ id }) => id) }),
    writeOne: ({ id }) => ({ voice: id }),
  },
  usagePath: null,
  helloPath: null,
  locate: (path, query) => (path.startsWith('/lines/') ? { path, query, model: null } : null),
  betterPath: () => null,
  readKeys: ({ 'x-lines-pass': pass }) => (typeof pass === 'string' ? [pass] : []),
  writeError: (error) => writeError(error.toBody().error),
  statusOf: ({ kind }) => kind.status,
  errorType: 'application/json',
  requestIdHeader: 'x-request-id',
  errorHeaders: ({ code }) => ({ 'x-lines-error': code }),
};
