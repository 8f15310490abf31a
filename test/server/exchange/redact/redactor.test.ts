/** Secrets in bodies of every framing, spread over events in pieces of any length. */
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { describe, expect, test } from 'vitest';
import { Redactor } from '../../../../server/exchange/redact/redactor.ts';
import { leastWorkOf } from '../../../support/cpu-work.ts';

const keys = {
  own: 'sk-sluice-Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4D',
  credential: 'upstream"credential/4711+abcdefghijkl=',
  foreign: `sk-proj-${'a1B2c3D4e5'.repeat(4)}`,
  slack: `xoxb-123456789012-1234567890123-${'a1B2c3D4'.repeat(3)}`,
  aws: 'AKIAA1B2C3D4E5F6G7H8',
};
const redactor = new Redactor([keys.own, keys.credential]);

/** How the texts of a stream are written. */
type Framing = (texts: readonly string[]) => Buffer;

const chunk = (text: string, at: number) => ({
  id: 'chatcmpl-123',
  choices: [{ index: 0, delta: { content: text } }],
  created: at,
});
const eventsOf =
  (write: (json: string, at: number) => string): Framing =>
  (texts) =>
    Buffer.from(texts.map((text, at) => write(JSON.stringify(chunk(text, at)), at)).join(''));
/** As Python's `json.dumps` writes it. */
const spaced = (json: string) => json.replaceAll('":', '": ').replaceAll(',"', ', "');
const gemini = (text: string) => ({ candidates: [{ content: { parts: [{ text }], role: 'model' } }], n: 1 });
const responsesEvent = (delta: string, at: number) => ({
  type: 'response.output_text.delta',
  sequence_number: at,
  item_id: `msg_${at % 2}`,
  output_index: 0,
  content_index: 0,
  delta,
});

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);
const frame = (payload: object) =>
  Buffer.from(
    codec.encode({
      headers: {
        ':event-type': { type: 'string', value: 'chunk' },
        ':message-type': { type: 'string', value: 'event' },
      },
      body: Buffer.from(JSON.stringify(payload)),
    }),
  );

const framings: Record<string, Framing> = {
  'events with LF': eventsOf((json) => `data: ${json}\n\n`),
  'events with CRLF': eventsOf((json) => `data: ${json}\r\n\r\n`),
  'events with CR': eventsOf((json) => `data: ${json}\r\r`),
  'events with mixed line ends': eventsOf((json, at) => `data: ${json}${['\n\n', '\r\n\n', '\r\r', '\n\r\n'][at % 4]}`),
  'events without a blank after data': eventsOf((json) => `data:${json}\n\n`),
  'events with spaced JSON': eventsOf((json) => `data: ${spaced(json)}\n\n`),
  'events with names, ids and comments': eventsOf(
    (json, at) => `: hi\nevent: a\nid: ${at}\nretry: 10\ndata: ${json}\n\n`,
  ),
  'events with ids after the data': eventsOf((json, at) => `data: ${json}\nid: ${at}\n\n`),
  'events with several data lines': eventsOf(
    (json) => `${JSON.stringify(JSON.parse(json), null, 1).replaceAll(/^/gm, 'data: ')}\n\n`,
  ),
  'events with several data lines in CRLF': eventsOf(
    (json) =>
      `${JSON.stringify(JSON.parse(json), null, 1)
        .split('\n')
        .map((line) => `data: ${line}`)
        .join('\r\n')}\r\n\r\n`,
  ),
  'events with data lines that break within a text': eventsOf((json) => {
    const middle = json.indexOf('"content":"') + 11 + (json.includes('"content":"\\') ? 0 : 1);
    return `data: ${json.slice(0, middle)}\ndata: ${json.slice(middle)}\n\n`;
  }),
  'events with a byte order mark': (texts) =>
    Buffer.concat([Buffer.from('\ufeff'), eventsOf((json) => `data: ${json}\n\n`)(texts)]),
  'events of plain text': (texts) => Buffer.from(texts.map((text) => `data: ${text}\n\n`).join('')),
  'events of JSON texts': (texts) => Buffer.from(texts.map((text) => `data: ${JSON.stringify(text)}\n\n`).join('')),
  'Responses events': (texts) =>
    Buffer.from(texts.map((text, at) => `event: x\ndata: ${JSON.stringify(responsesEvent(text, at))}\n\n`).join('')),
  'events of two answers in turns': eventsOf((json, at) => {
    const other = JSON.stringify({ choices: [{ index: 1, delta: { content: `other ${at} ` } }] });
    return `data: ${json}\n\ndata: ${other}\n\n`;
  }),
  'events with two answers each': (texts) =>
    Buffer.from(
      texts
        .map((text, at) => {
          const choices = [
            { delta: { content: `other ${at} ` }, index: 1 },
            { delta: { content: text }, index: 0 },
          ];
          return `data: ${JSON.stringify({ choices })}\n\n`;
        })
        .join(''),
    ),
  'calls of a tool whose arguments are JSON': (texts) =>
    Buffer.from(
      ['{"key":"', ...texts.map((text) => JSON.stringify(text).slice(1, -1)), '"}']
        .map(
          (part) =>
            `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: part } }] } }] })}\n\n`,
        )
        .join(''),
    ),
  'a stream that is one array': (texts) =>
    Buffer.from(`[${texts.map((text) => JSON.stringify(gemini(text), null, 2)).join('\n,\r\n')}\n]\n`),
  'a stream that is one array, cut off': (texts) =>
    Buffer.from(`[${texts.map((text) => JSON.stringify(gemini(text))).join(',\n')},\n{"candidates":[{"con`),
  'lines of JSON': (texts) =>
    Buffer.from(texts.map((text) => `${JSON.stringify({ message: { content: text }, done: false })}\n`).join('')),
  'lines of JSON in CRLF': (texts) =>
    Buffer.from(texts.map((text) => `${spaced(JSON.stringify({ text }))}\r\n`).join('')),
  'AWS frames': (texts) =>
    Buffer.concat(texts.map((text) => frame({ contentBlockIndex: 0, delta: { text }, p: 'abc' }))),
  'AWS frames in base64': (texts) =>
    Buffer.concat(
      texts.map((text, at) =>
        frame({ bytes: Buffer.from(JSON.stringify(chunk(text, at))).toString('base64'), p: 'ab' }),
      ),
    ),
};

const pieceLengths = [1, 2, 7, 20, 30, Number.POSITIVE_INFINITY];
const piecesOf = (text: string, length: number) =>
  length === Number.POSITIVE_INFINITY
    ? [text]
    : Array.from({ length: Math.ceil(text.length / length) }, (_, at) => text.slice(at * length, (at + 1) * length));

/** What a client puts together of the stream. */
function textOf(body: Buffer): string {
  const frames: Buffer[] = [];
  for (let at = 0; body.length - at > 16 && body.readUInt32BE(at) <= body.length - at; ) {
    const length = body.readUInt32BE(at);
    const { body: payload } = codec.decode(body.subarray(at, at + length));
    const json: { bytes?: string } = JSON.parse(Buffer.from(payload).toString());
    frames.push(json.bytes === undefined ? Buffer.from(payload) : Buffer.from(json.bytes, 'base64'));
    at += length;
  }
  const text = (frames.length > 0 ? Buffer.concat(frames) : body).toString().replace('\ufeff', '');
  if (!/^(?:data|event|id|retry)?:/.test(text)) return stringsIn(text);
  const events = text.split(/(?<=\n\n|\r\r|\n\r\n)(?=data|event|:)/);
  return events
    .map((event) => [...event.matchAll(/^data: ?([^\r\n]*)/gm)].map(([, line]) => line ?? '').join(''))
    .map((data) => (/^\{/.test(data) ? stringsIn(data) : data.replace(/^"(.*)"$/, '$1').replaceAll('\\"', '"')))
    .join('');
}

function stringsIn(json: string): string {
  const strings = [...json.matchAll(/"(?:content|text|delta|arguments)" ?: ?"((?:[^"\\]|\\.)*)"/g)].map(
    ([, each]) => each ?? '',
  );
  return strings
    .filter((each) => !each.startsWith('other'))
    .join('')
    .replaceAll(/\\+(["/])/g, '$1');
}

describe.each(Object.entries(framings))('%s', (name, framing) => {
  test.each(Object.entries(keys))('the %s key is removed whole, in pieces of any length', (_kind, key) => {
    for (const length of pieceLengths) {
      const written = framing([...piecesOf('It is ', length), ...piecesOf(key, length), '. ', 'And more.']);
      expect(textOf(written)).toContain(key);
      const redacted = redactor.body(written);
      const text = textOf(redacted);
      expect([length, text]).toEqual([length, expect.stringMatching(/^(?:\{"key":")?It is \[redacted\]\. And more\./)]);
    }
  });

  test('where the first piece looks like a key by itself, its rest is removed too', () => {
    for (const first of [20, 24, 30]) {
      const written = framing([
        name.includes('break within') ? 'x ' : 'x',
        keys.foreign.slice(0, first),
        keys.foreign.slice(first),
        ' and more',
      ]);
      const text = textOf(redactor.body(written));
      for (let at = 0; at + 8 <= keys.foreign.length; at++) expect(text).not.toContain(keys.foreign.slice(at, at + 8));
      expect(text).toContain(' and more');
    }
  });

  test('without a secret it is the same', () => {
    const written = framing(['Hello', ' world, ', 'sk-', ' and "more" \\ of ', 'task-force-1234567890 it', '.']);
    expect(redactor.body(written).equals(written)).toBe(true);
  });

  test('where it is cut, no more of a secret remains than tells nothing', () => {
    const written = framing(['It is ', ...piecesOf(keys.own.slice(0, 30), 3)]);
    expect(textOf(redactor.body(written))).not.toContain(keys.own.slice(0, 8));
  });

  test('what is kept of its beginning has nothing of it either', () => {
    const written = framing(['It is ', ...piecesOf(keys.own, 5), ' and ', 'more'.repeat(20)]);
    for (let kept = 1; kept < written.length; kept += 13) {
      const start = redactor.body(written, kept);
      expect(start.length).toBeLessThanOrEqual(kept + 400);
      if (!name.startsWith('AWS')) expect(textOf(start)).not.toContain(keys.own.slice(0, 8));
    }
  });
});

test('keys in names of members, in damaged JSON, in plain text and in bytes that are no text', () => {
  for (const body of [
    `{"${keys.own}":1}`,
    `{"a":"${keys.own}`,
    `[{]}"${keys.own}`,
    `data: {"a":\n\n"${keys.own}"`,
    `Hello ${keys.own}`,
    `{"a":"\\n${keys.own}\\n${keys.foreign}\\n${keys.aws}"}`,
    `\u0000\u00ff ${keys.own}`,
  ]) {
    for (const encoding of ['utf8', 'latin1'] as const) {
      const redacted = redactor.body(Buffer.from(body, encoding)).toString('latin1');
      for (const key of [keys.own, keys.foreign, keys.aws]) expect(redacted).not.toContain(key);
      expect(redacted).toContain('[redacted]');
    }
  }
});

test('the JSON of a body stays JSON, with the same members', () => {
  const value = {
    [keys.own]: 'a',
    text: `\n${keys.own}\t"${keys.credential}"\\${keys.foreign}\\`,
    pem: '-----BEGIN PRIVATE KEY-----\nabc\n"quoted"',
    bearer: 'Bearer abcdefghijk',
    lines: `a\npm_${'a1'.repeat(20)} and \\npm_${'a1'.repeat(20)}`,
    list: [{ url: 'https://me:secret@host/x' }, 'AccountKey=abc'],
  };
  const redacted: unknown = JSON.parse(redactor.body(Buffer.from(JSON.stringify(value))).toString());
  expect(redacted).toMatchObject({ '[redacted]': 'a', bearer: 'Bearer [redacted]', pem: '[redacted]"quoted"' });
});

test('the time grows with the body: many events, long texts, deep and odd JSON', async () => {
  const bodies: Record<string, (size: number) => Buffer> = {
    events: (size) =>
      framings['events with CRLF']?.(Array.from({ length: size / 100 }, () => 'token ')) ?? Buffer.alloc(0),
    'two answers': (size) =>
      framings['events of two answers in turns']?.(Array.from({ length: size / 200 }, () => 'token ')) ??
      Buffer.alloc(0),
    text: (size) => Buffer.from(JSON.stringify({ text: 'word \n '.repeat(size / 8) })),
    deep: (size) => Buffer.from('['.repeat(size)),
    deepObjects: (size) => Buffer.from('{"a":'.repeat(size / 5)),
    indexes: (size) => Buffer.from('{"index":1,"a":"b","c":'.repeat(size / 22)),
    strings: (size) => Buffer.from(`[${'"",'.repeat(size / 3)}""]`),
    secrets: (size) => Buffer.from(`[${`"${keys.own}",`.repeat(size / 45)}""]`),
    dataLines: (size) => Buffer.from(`data: {"a":\n${'data: \n'.repeat(size / 7)}\n`),
    openStrings: (size) => Buffer.from(`data: {"a":"\n${'data: "\n'.repeat(size / 8)}\n`),
    blanks: (size) => Buffer.from(`{"a"${' '.repeat(size)}`),
    quotes: (size) => Buffer.from(`{${'"a" '.repeat(size / 4)}`),
    backslashes: (size) => Buffer.from(`{"a":"${'\\'.repeat(size)}`),
  };
  // Linear is 16, quadratic 256.
  const mostGrowth = 80;
  const noiseWork = 6;
  for (const [name, make] of Object.entries(bodies)) {
    const [short, long] = [make(60_000), make(960_000)];
    const most = mostGrowth * Math.max(await leastWorkOf(() => redactor.body(short), 0, 3), noiseWork);
    const isLinear = (await leastWorkOf(() => redactor.body(long), most, 3)) < most;
    expect([name, isLinear]).toEqual([name, true]);
  }
});
