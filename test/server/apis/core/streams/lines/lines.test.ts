import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, plainRoute } from '../../../../../../server/apis/core/api.ts';
import type {
  EventGate,
  EventMeaning,
  Framing,
  GateOptions,
  StreamClose,
  StreamEnd,
  StreamEvent,
  StreamFormat,
  StreamWatch,
} from '../../../../../../server/apis/core/stream-format.ts';
import type { UsageFormat, Verdict, Wire } from '../../../../../../server/apis/core/wire.ts';
import { openaiApi } from '../../../../../../server/apis/openai/routes.ts';
import type { ErrorBody } from '../../../../../../server/contract/errors.ts';
import { isObject } from '../../../../../../server/contract/is-object.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../../../../support/gateway.ts';
import {
  json,
  oddCuts,
  type ScriptedUpstream,
  sendPieces,
  startUpstream,
  writePieces,
} from '../../../../../support/upstream.ts';

// A fictitious API: `POST /lines/{model}` with `{"ask": …}` is answered with `{"say": …}`, whole or in one line per
// piece. It shows that an API can be added without changing any file of the engine.

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

const linesWire: Wire = {
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
  whole: { kind: 'json', members: ['say'], isNeverLonger: true, maxHeldBytes: 1024 * 1024, isNumbers: false, judge },
  errorName: 'code',
  stream,
};

const lines: Api = {
  name: 'lines',
  base: '',
  routes: [
    {
      ...plainRoute,
      method: 'POST',
      path: '/lines/:model',
      wire: linesWire,
      model: 'required',
      modelIn: 'path',
      stream,
    },
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

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)] },
    ports: { apis: [openaiApi, lines] },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const ask = (path: string, body: string, pass = testKey) =>
  fetch(gateway.origin + path, {
    method: 'POST',
    headers: { 'x-lines-pass': pass, 'content-type': 'application/json' },
    body,
  });
const said = Buffer.from('{"say":"Grüße"}\n{"say":" \\n\\n"}\n{"say":"!"}\n{"end":true}\n');
const streaming = '{"ask":"Hi","stream":true}';
const type = { 'content-type': 'application/x-ndjson' };
const recordOf = (response: Response) => gateway.record(response.headers.get('x-sluice-request-id') ?? '');

test('an answer in a format of its own comes as it was sent, and the model of the path is renamed there', async () => {
  upstream.answer((_request, response) => json(response, { say: 'Hello' }));
  const response = await ask('/lines/main%2Fgpt-x', '{"ask":"Hi"}');
  expect(await response.json()).toEqual({ say: 'Hello' });
  const seen = upstream.seen.at(-1);
  expect([seen?.url, seen?.body.toString()]).toEqual(['/v1/lines/gpt-x', '{"ask":"Hi"}']);
  expect(seen?.headers.authorization).toBe('Bearer upstream-secret');
  expect(JSON.stringify(seen?.headers)).not.toContain(testKey);
  expect(await recordOf(response)).toMatchObject({ route: '/lines/{model}', keyId: 'k1', modelAsked: 'main/gpt-x' });
});

test('a stream of lines comes as it was sent, wherever it is cut', async () => {
  upstream.answer((_request, response) => {
    response.writeHead(200, type);
    return sendPieces(response, said, oddCuts(said.length));
  });
  const response = await ask('/lines/gpt-x', streaming);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  expect(Buffer.from(await response.arrayBuffer()).equals(said)).toBe(true);
  expect(await recordOf(response)).toMatchObject({ outcome: 'ok', stream: true, attempts: [{ failure: null }] });
});

test('what was used is read as that API tells it, and else estimated in its own way', async () => {
  upstream.answer((_request, response) => json(response, { say: 'Hello', words: 7 }));
  const told = await recordOf(await ask('/lines/gpt-x', '{"ask":"Hi"}'));
  expect([told.usage, told.usageCertainty]).toEqual([{ outputTokens: 7 }, 'reported']);
  upstream.answer((_request, response) => void response.writeHead(200, type).end(said));
  const response = await ask('/lines/gpt-x', '{"ask":"Hi there","stream":true}');
  await response.text();
  const estimated = await recordOf(response);
  expect([estimated.usage, estimated.usageCertainty]).toEqual([{ inputTokens: 2, outputTokens: 4 }, 'estimated']);
});

test('a stream of lines that breaks off ends with a whole line that says so', async () => {
  upstream.answer(async (_request, response) => {
    response.writeHead(200, type);
    await writePieces(response, said.subarray(0, 20), []);
    response.destroy();
  });
  const response = await ask('/lines/gpt-x', streaming);
  const [first, last, ...more] = (await response.text()).trimEnd().split('\n');
  expect([first, more]).toEqual(['{"say":"Grüße"}', []]);
  expect(JSON.parse(last ?? '')).toMatchObject({ code: 'upstream_stream_broken' });
});

test('an error in place of a stream of lines is an error of that API', async () => {
  upstream.answer(async (_request, response) => {
    response.writeHead(200, type);
    response.end('{"fail":"No such voice","code":"invalid_value"}\n');
  });
  const response = await ask('/lines/gpt-x', streaming);
  expect([response.status, await response.json()]).toEqual([400, { fail: 'No such voice', code: 'invalid_value' }]);
});

test('Sluice’s own errors are in the format of that API', async () => {
  const tell = async (response: Response) => [
    response.status,
    response.headers.get('x-lines-error'),
    Object.keys(JSON.parse(await response.text())),
  ];
  expect(await tell(await ask('/lines/gpt-x', '{}', 'wrong'))).toEqual([401, 'invalid_key', ['fail', 'code']]);
  expect(await tell(await ask('/lines/gpt-x/y', '{}'))).toEqual([404, 'unknown_url', ['fail', 'code']]);
  const got = await fetch(`${gateway.origin}/lines/gpt-x`);
  expect(await tell(got)).toEqual([405, 'method_not_allowed', ['fail', 'code']]);
});

test('the models are listed as that API lists them', async () => {
  const list = (path: string) => fetch(gateway.origin + path, { headers: { 'x-lines-pass': testKey } });
  const response = await list('/lines/');
  expect(await response.json()).toEqual({ voices: expect.arrayContaining(['gpt-x']) });
  expect(await recordOf(response)).toMatchObject({ route: '/lines/', outcome: 'ok' });
  expect((await list('/lines/usage')).status).toBe(405);
});

test('OpenAI’s API is served beside it, and does not take its key', async () => {
  upstream.answer((_request, response) => json(response, { choices: [] }));
  const init = { method: 'POST', body: '{"model":"gpt-x"}', headers: { 'content-type': 'application/json' } };
  expect((await gateway.fetch('/chat/completions', init)).status).toBe(200);
  expect((await ask('/v1/chat/completions', '{"model":"gpt-x"}')).status).toBe(401);
});
