/** An event that matches a shape is reported as if it had been parsed, whatever was changed in its bytes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ComparedBytes } from '../../../../server/apis/core/stream-format.ts';
import { endOfDigits, endOfString } from '../../../../server/apis/json/json-scan.ts';
import { EventShape, type SeenEvent } from '../../../../server/exchange/readers/event-shape.ts';

const chunk = (content: string, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', created: 7, choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more })}\n\n`;
const delta = (text: string, number: number, obfuscation = 'xyz') => {
  const type = 'response.output_text.delta';
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...at, delta: text, logprobs: [], obfuscation })}\n\n`;
};

function shapeOf(text: string, says: string | null, passing = text): EventShape | null {
  const bytes = Buffer.from(text);
  return EventShape.of({
    bytes,
    passing: passing === text ? bytes : Buffer.from(passing),
    text: says,
  } satisfies SeenEvent);
}

function mustShape(...parameters: Parameters<typeof shapeOf>): EventShape {
  const shape = shapeOf(...parameters);
  if (!shape) throw new Error('it has a shape');
  return shape;
}

const dataOf = (event: string) => JSON.parse(event.slice(event.indexOf('data: ') + 6));
const textOf = (bytes: Buffer, { textStart, textEnd }: EventShape) =>
  JSON.parse(`"${bytes.toString('utf8', textStart, textEnd)}"`);

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\u2028', '\u{1F30D}', '\ud83c', 'u0041', 'a') }),
);

describe('an event of a shape', () => {
  test('is found with its text and number, among others and wherever it stands', () => {
    const [chat, response] = [mustShape(chunk('one'), 'one'), mustShape(delta('one', 4), 'one')];
    fc.assert(
      fc.property(anyText, anyText, fc.nat(), anyText, (before, text, number, padding) => {
        const from = Buffer.byteLength(before);
        const chatBytes = Buffer.from(before + chunk(text) + chunk('next'));
        expect(chat.match(new ComparedBytes(chatBytes), from)).toBe(true);
        expect(chat.end).toBe(from + Buffer.byteLength(chunk(text)));
        expect(textOf(chatBytes, chat)).toBe(JSON.parse(JSON.stringify(text)));
        const bytes = Buffer.from(before + delta(text, number, padding));
        expect(response.match(new ComparedBytes(bytes), from)).toBe(true);
        expect([response.end, response.sequenceNumber]).toEqual([bytes.length, number]);
        expect(textOf(bytes, response)).toBe(JSON.parse(JSON.stringify(text)));
      }),
    );
  });

  test('parses, and to the same but for its open places, whatever was done to its bytes', () => {
    const places = (text: string, number: number) => [chunk(text), delta(text, number)] as const;
    const shapes = places('one', 4).map((event) => mustShape(event, 'one'));
    const mutation = fc.record({
      at: fc.nat(),
      out: fc.integer({ min: 0, max: 3 }),
      into: fc.oneof(
        fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\r', '\0', '\x1f', '{', '}', ',', ':', '0', 'u', '12') }),
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
    });
    let matches = 0;
    fc.assert(
      fc.property(anyText, fc.nat(), fc.array(mutation, { minLength: 1, maxLength: 3 }), (text, number, mutations) => {
        for (const [index, event] of places(text, number).entries()) {
          let mutated = Buffer.from(event);
          for (const { at, out, into } of mutations) {
            const place = at % mutated.length;
            mutated = Buffer.concat([mutated.subarray(0, place), Buffer.from(into), mutated.subarray(place + out)]);
          }
          const shape = shapes[index];
          if (!shape?.match(new ComparedBytes(mutated), 0)) continue;
          matches++;
          const found = mutated.toString('utf8', 0, shape.end);
          const { sequence_number, obfuscation: _, ...value } = dataOf(found);
          const says = textOf(mutated, shape);
          const { sequence_number: _n, obfuscation: _o, ...wanted } = dataOf(places(says, 4)[index] ?? '');
          expect(value).toEqual(wanted);
          expect(sequence_number ?? null).toBe(shape.sequenceNumber);
          expect(found.split('\n\n')).toHaveLength(2);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(matches).toBeGreaterThan(100);
  });

  test('is not found before it is complete', () => {
    const event = Buffer.from(delta('one \u{1F30D} "quoted"', 12));
    const shape = mustShape(delta('two', 4), 'two');
    for (let end = 0; end < event.length; end++)
      expect(shape.match(new ComparedBytes(event.subarray(0, end)), 0)).toBe(false);
    expect(shape.match(new ComparedBytes(event), 0)).toBe(true);
  });

  test('loses what that one lost', () => {
    const usage = { usage: null, obfuscation: 'ab' };
    const shape = mustShape(chunk('one', usage), 'one', chunk('one', { obfuscation: 'ab' }));
    const bytes = Buffer.from(chunk('two', usage));
    expect(shape.match(new ComparedBytes(bytes), 0)).toBe(true);
    const left = Buffer.concat([bytes.subarray(0, shape.cutStart), bytes.subarray(shape.cutEnd)]);
    expect(left.toString()).toBe(chunk('two', { obfuscation: 'ab' }));
  });
});

describe('no shape is found', () => {
  test.each([
    ['of an event that has no open place', 'data: [DONE]\n\n', ''],
    ['where two places say the same as the text', chunk('a', { text: 'a' }), 'a'],
    ['where none does', chunk('a'), 'b'],
    ['where a place is empty as the text is', chunk(''), ''],
    ['of a long event', chunk('a'.repeat(5_000)), 'a'.repeat(5_000)],
  ])('%s', (_name, event, text) => expect(shapeOf(event, text)).toBeNull());

  test('if what was removed occurred in more than one place', () => {
    expect(shapeOf(chunk('abc'), null, chunk('b').replace('null', ''))).toBeNull();
  });

  test('with a place for the text if the event adds no text', () => {
    const shape = mustShape(chunk('', { choices: [{ delta: { content: null, reasoning: 'Hm' } }] }), '');
    const bytes = Buffer.from(chunk('', { choices: [{ delta: { content: null, reasoning: 'So' } }] }));
    expect(shape.match(new ComparedBytes(bytes), 0)).toBe(true);
    expect([shape.textStart, shape.textEnd]).toEqual([0, 0]);
  });
});

test('padding is not taken for the text, even where it is the same', () => {
  const shape = mustShape(chunk('a', { obfuscation: 'a' }), 'a');
  const bytes = Buffer.from(chunk('bc', { obfuscation: 'xyz' }));
  expect(shape.match(new ComparedBytes(bytes), 0)).toBe(true);
  expect(bytes.toString('utf8', shape.textStart, shape.textEnd)).toBe('bc');
});

describe('finding the end of', () => {
  const parses = (json: string) => {
    try {
      JSON.parse(json);
      return true;
    } catch {
      return false;
    }
  };

  test('a string agrees with a JSON parser, or finds none', () => {
    const inside = fc.string({ unit: fc.constantFrom('"', '\\', 'u', 'n', 'x', '0', 'F', '\n', 'ü', '\u{1F30D}') });
    fc.assert(
      fc.property(inside, (text) => {
        const bytes = Buffer.from(`${text}"`);
        const end = endOfString(bytes, 0);
        if (end !== -1) expect(parses(`"${bytes.toString('utf8', 0, end)}"`)).toBe(true);
        else
          for (let at = 0; at < bytes.length; at++)
            expect(parses(`"${bytes.toString('utf8', 0, at)}"`) && bytes[at] === 0x22).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['0', 1],
    ['12,', 2],
    ['007', -1],
    ['', -1],
    ['-1', -1],
    ['x', -1],
  ])('the number %j gives position %d', (text, end) => expect(endOfDigits(Buffer.from(text), 0)).toBe(end));
});
