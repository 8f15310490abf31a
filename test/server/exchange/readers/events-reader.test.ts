/**
 * A stream reaches the client and is captured as if each event had been parsed, whatever is known about their shapes.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvent } from '../../../../server/apis/core/sse-framing.ts';
import { type StreamText, takeEvents } from '../../../../server/apis/core/wire.ts';
import { ChatText } from '../../../../server/apis/openai/rescue/chat.ts';
import { ResponseSplice, ResponseText } from '../../../../server/apis/openai/rescue/response.ts';
import { withoutUsage } from '../../../../server/apis/openai/wire/streams.ts';
import { EventsReader } from '../../../../server/exchange/readers/events-reader.ts';
import type { Step, Steps } from '../../../../server/exchange/readers/response-reader.ts';
import { SplicedEventsReader } from '../../../../server/exchange/rescue/rescue.ts';
import { tries } from '../../../support/sweep.ts';
import { type StreamName, streams } from '../../apis/openai/streams.ts';

/** The outcome of a stream. */
interface Outcome {
  passed: string;
  dropped: number;
  alive: number;
  /** The kind of the last step, with the kind of its reason for a failure. */
  ended: string;
}

function outcomeOf(steps: Steps): Outcome {
  const bytes = steps.flatMap((step) => {
    if (step.kind === 'pass') return [step.bytes];
    return step.kind === 'complete' && step.bytes ? [step.bytes] : [];
  });
  const last = steps.at(-1);
  const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
  return {
    passed: Buffer.concat(bytes).toString(),
    dropped: count('dropped'),
    alive: count('alive'),
    ended: last?.kind === 'fail' ? `fail: ${last.reason.kind}` : (last?.kind ?? ''),
  };
}

const readerOf = (protocol: StreamName, text: StreamText | null, stripUsage = false) =>
  new EventsReader({ format: streams[protocol], answers: 1, stripUsage, text, headers: {} });

function ending(steps: Steps | Promise<Steps>): Steps {
  if (steps instanceof Promise) throw new Error('A stream ends at once.');
  return steps;
}

function run(pieces: readonly Buffer[], protocol: StreamName, stripUsage = false) {
  const text = protocol === 'chat' ? new ChatText() : new ResponseText();
  const reader = readerOf(protocol, text, stripUsage);
  // Copied at once, because the steps may refer to the connection's own buffer.
  const steps = pieces.flatMap((piece) => reader.read(piece).map(copied));
  return { outcome: outcomeOf([...steps, ...ending(reader.end())]), text };
}

const copied = (step: Step): Step => (step.kind === 'pass' ? { ...step, bytes: Buffer.from(step.bytes) } : step);

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index] ?? bytes.length));
}

const said = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\u{1F30D}', '\ud83c', 'a'), maxLength: 4 }),
);
const usage = fc.constantFrom<object[]>(
  {},
  { usage: null },
  { usage: null, obfuscation: 'ab' },
  { obfuscation: 'xyz' },
);
const chunk = (delta: object, more: object) =>
  `data: ${JSON.stringify({ id: 'c', created: 7, model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
const firstChunk = fc.constantFrom(chunk({ role: 'assistant', content: 'So' }, {}), chunk({ content: 'So' }, {}));
const chatEvent = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(said, usage).map(([content, more]) => chunk({ content }, more)) },
  fc.tuple(said, usage).map(([reasoning, more]) => chunk({ reasoning, content: null }, more)),
  fc.constantFrom(': ping\n\n', chunk({}, { choices: [], usage: { total_tokens: 7 } })),
  said.map((content) => chunk({ content }, {}).replace('"delta"', '"delta')),
  said.map((content) => chunk({ content }, {}).replace('}]', '}')),
  said.map((content) => chunk({ content }, {}).replace(',"choices"', ',"model":"x","choices"')),
);
const places = fc.array(fc.nat(), { maxLength: 6 });
const isSound = (event: string) => readEvent(event) !== null;

describe('a chat stream', () => {
  test('passes up to a damaged event, without what was not asked for, and is kept as it was sent', () => {
    fc.assert(
      fc.property(
        firstChunk,
        fc.array(chatEvent, { maxLength: 30 }),
        places,
        fc.boolean(),
        (first, list, cuts, strips) => {
          const events = [first, ...list, 'data: [DONE]\n\n'];
          const { outcome, text } = run(cutAt(Buffer.from(events.join('')), cuts), 'chat', strips);
          const damagedAt = events.findIndex((event) => !isSound(event));
          const sound = events.slice(0, damagedAt === -1 ? undefined : damagedAt).map((event) => Buffer.from(event));
          const wanted = strips ? sound.map(withoutUsage).filter((event) => event !== null) : sound;
          expect(outcome.passed).toBe(Buffer.concat(wanted).toString());
          expect(outcome.dropped).toBe(damagedAt === -1 ? 0 : 1);
          expect(damagedAt === -1 ? ['complete'] : ['hand-over', 'break']).toContain(outcome.ended);
          const again = new ChatText();
          takeEvents(again, Buffer.from(outcome.passed));
          expect(text.read()).toEqual(again.read());
        },
      ),
      { numRuns: tries(1_000) },
    );
  });

  test('that is cut anywhere is kept as far as it was sent', () => {
    fc.assert(
      fc.property(firstChunk, fc.array(said, { maxLength: 9 }), places, fc.nat(), (first, texts, cuts, until) => {
        const all = Buffer.from([first, ...texts.map((content) => chunk({ content }, {}))].join(''));
        const { outcome, text } = run(cutAt(all.subarray(0, until % (all.length + 1)), cuts), 'chat');
        const again = new ChatText();
        takeEvents(again, Buffer.from(outcome.passed));
        expect(text.read()).toEqual(again.read());
      }),
      { numRuns: tries(1_000) },
    );
  });

  test('is given over with what came before an error, whatever is alike around it', () => {
    fc.assert(
      fc.property(
        firstChunk,
        fc.array(said, { minLength: 3, maxLength: 9 }),
        fc.nat(),
        places,
        (first, texts, at, cuts) => {
          const error = 'data: {"error":{"message":"Overloaded"}}\n\n';
          const events = texts.map((content) => chunk({ content }, {}));
          const before = [first, ...events.slice(0, at % texts.length)];
          const all = [...before, error, ...events, 'data: [DONE]\n\n'];
          const { outcome, text } = run(cutAt(Buffer.from(all.join('')), cuts), 'chat');
          expect([outcome.ended, outcome.passed]).toEqual(['fail: answer', before.join('')]);
          const again = new ChatText();
          takeEvents(again, Buffer.from(before.join('')));
          expect(text.read()).toEqual(again.read());
        },
      ),
      { numRuns: tries(300) },
    );
  });
});

test('the stream of a response passes as it is, and is kept with its text and number', () => {
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
  const delta = fc.tuple(said, said).map(([text, obfuscation]) => {
    return { type: 'response.output_text.delta', ...at, delta: text, logprobs: [], obfuscation };
  });
  fc.assert(
    fc.property(fc.array(delta, { maxLength: 20 }), places, fc.nat(), (deltas, cuts, until) => {
      const events = [
        { type: 'response.created', response: { id: 'resp_1' } },
        { type: 'response.output_item.added', output_index: 0, item },
        ...deltas,
      ].map(({ type, ...rest }, number) => {
        return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number + 97, ...rest })}\n\n`;
      });
      const kept = Buffer.from(events.slice(0, 2 + (until % (deltas.length + 1))).join(''));
      const { outcome, text } = run(cutAt(kept, cuts), 'responses');
      expect([outcome.ended, outcome.passed]).toEqual(['hand-over', kept.toString()]);
      const again = new ResponseText();
      takeEvents(again, kept);
      expect(text.read()).toEqual(again.read());
    }),
    { numRuns: tries(500) },
  );
});

test.each<[string, StreamName, number]>([
  ['data: {"type":"keepalive","sequence_number":3}', 'responses', 1],
  ['data: {"type":"response.in_progress","sequence_number":3}', 'responses', 1],
  ['data: {"type":"ping"}', 'responses', 0],
  [': ping', 'responses', 0],
  ['data: {"type":"keepalive"}', 'chat', 0],
])('once content has come, %s in a stream of %s counts as progress: %i', (event, protocol, wanted) => {
  const reader = readerOf(protocol, null);
  expect(outcomeOf(reader.read(Buffer.from(`${event}\n\n`))).alive).toBe(0);
  const first =
    protocol === 'chat' ? chunk({ content: 'a' }, {}) : 'data: {"type":"response.output_item.added","item":{}}\n\n';
  reader.read(Buffer.from(first));
  expect(outcomeOf(reader.read(Buffer.from(`${event}\n\n`))).alive).toBe(wanted);
});

test('bookkeeping events count as progress after content also in a response that another target continues', () => {
  const text = new ResponseText();
  takeEvents(text, Buffer.from('data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1"}}\n\n'));
  const soFar = text.read();
  if (!soFar) throw new Error('Nothing can be gone on with.');
  const reader = new SplicedEventsReader({
    format: streams.responses,
    text,
    splice: new ResponseSplice(soFar),
    headers: {},
  });
  const event = Buffer.from('data: {"type":"response.in_progress","sequence_number":1,"response":{"id":"r"}}\n\n');
  expect(outcomeOf(reader.read(event))).toMatchObject({ alive: 0, passed: '' });
  const item = { type: 'message', id: 'msg_2', role: 'assistant', content: [] };
  const added = { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item };
  expect(outcomeOf(reader.read(Buffer.from(`data: ${JSON.stringify(added)}\n\n`))).passed).toContain('msg_2');
  expect(outcomeOf(reader.read(event)).alive).toBe(1);
});

const done = 'data: [DONE]\n\n';
const withoutData = [
  'id: 7\n\n',
  'retry: 3000\n\n',
  'event: ping\n\n',
  'id: 7\nretry: 10\n\n',
  'data\n\n',
  ': ping\nid: 8\n\n',
];

test.each(withoutData)('%j has no data and is left out wherever it stands and is cut; all else passes', (block) => {
  const [a, b] = [chunk({ content: 'a' }, {}), chunk({ content: 'b' }, {})];
  const events = [`id: 1\n${a}`, ': ping\n\n', `event: message\n${b}`, ': ping\n\n', done];
  for (let at = 0; at <= events.length; at++) {
    const sent = Buffer.from([...events.slice(0, at), block, ...events.slice(at)].join(''));
    const wanted = { passed: events.join(''), dropped: 0, ended: 'complete' };
    for (let cut = 0; cut < sent.length; cut++) expect(run(cutAt(sent, [cut]), 'chat').outcome).toMatchObject(wanted);
    expect(
      run(
        Array.from(sent, (byte) => Buffer.from([byte])),
        'chat',
      ).outcome,
    ).toMatchObject(wanted);
  }
});

describe('an event that is too large to be looked into', () => {
  const mebibyte = Buffer.alloc(1024 * 1024, 'A');
  const start = 'data: {"type":"image_generation.partial_image","b64_json":"';
  const reader = () => readerOf('images', null);

  test('passes when its end is here, and until then is held', () => {
    const images = reader();
    const steps = [Buffer.from(start), ...Array.from({ length: 40 }, () => mebibyte)].flatMap((bytes) =>
      images.read(bytes),
    );
    expect(outcomeOf(steps)).toMatchObject({ passed: '', alive: 40 });
    expect(images.heldBytes).toBe(start.length + 40 * mebibyte.length);
    const { passed } = outcomeOf(images.read(Buffer.from('"}\n\n')));
    expect(passed === `${start}${'A'.repeat(40 * mebibyte.length)}"}\n\n`).toBe(true);
    expect(images.heldBytes).toBe(0);
  });

  test('passes as it comes where memory is short', () => {
    const images = reader();
    for (const bytes of [Buffer.from(start), mebibyte]) expect(outcomeOf(images.read(bytes)).passed).toBe('');
    expect(outcomeOf(images.releaseHeld()).passed).toHaveLength(start.length + mebibyte.length);
    expect(outcomeOf(images.read(mebibyte)).passed).toHaveLength(mebibyte.length);
  });

  test('is damage if it breaks off', () => {
    const images = reader();
    for (const bytes of [Buffer.from(start), mebibyte]) images.read(bytes);
    expect(outcomeOf(ending(images.end()))).toMatchObject({ passed: '', ended: 'fail: damage' });
  });

  const readUntilOver = (images: EventsReader): { outcome: Outcome; pieces: number } => {
    for (let pieces = 1; pieces <= 100; pieces++) {
      const outcome = outcomeOf(images.read(mebibyte));
      if (['fail: damage', 'break'].includes(outcome.ended)) return { outcome, pieces };
    }
    throw new Error('It was read to its end.');
  };

  test('fails beyond 64 MiB, before any of it has passed', () => {
    const images = reader();
    images.read(Buffer.from(start));
    const { outcome, pieces } = readUntilOver(images);
    expect([outcome.ended, outcome.passed, pieces]).toEqual(['fail: damage', '', 64]);
  });

  test('breaks the stream beyond 64 MiB after another has passed', () => {
    const images = reader();
    expect(outcomeOf(images.read(Buffer.from(`${start}AA"}\n\n${start}`))).passed).not.toBe('');
    const { outcome, pieces } = readUntilOver(images);
    expect([outcome.ended, pieces]).toEqual(['break', 64]);
  });

  test('may come repeatedly without adding up to the limit', () => {
    const images = reader();
    const end = Buffer.from(`"}\n\n${start}`);
    images.read(Buffer.from(start));
    for (let count = 0; count < 9; count++) {
      for (let piece = 0; piece < 10; piece++) expect(outcomeOf(images.read(mebibyte)).ended).not.toBe('break');
      expect(outcomeOf(images.read(end)).passed).not.toBe('');
    }
  });
});
