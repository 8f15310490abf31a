import { describe, expect, test } from 'vitest';
import { jsonArrayFraming } from '../../../../../server/apis/gemini/generate.ts';

const elements = [{ a: '}]{["\\' }, { b: { c: [1, { d: 2 }] } }, {}];
const told = `[${elements.map((element) => JSON.stringify(element, null, 2)).join('\n,\r\n')}\n]`;

function read(text: string, pieceBytes: number, maxHeldBytes = 1000) {
  const values: unknown[] = [];
  const passed: Buffer[] = [];
  const gate = jsonArrayFraming.openGate((bytes) => passed.push(bytes), {
    maxHeldBytes,
    filter: (event, whole) => {
      if (whole) values.push(jsonArrayFraming.readEvent(event)?.value);
      return event;
    },
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) gate.push(bytes.subarray(at, at + pieceBytes));
  const { insideEvent } = gate;
  const rest = gate.takeRest();
  return { values, passed: Buffer.concat(passed).toString(), rest: rest.toString(), insideEvent };
}

describe('a stream that is one array', () => {
  test.each(Array.from({ length: told.length }, (_, index) => index + 1))('is read in pieces of %i bytes', (bytes) => {
    const { values, passed, rest } = read(told, bytes);
    expect(values).toEqual(elements);
    expect(passed + rest).toBe(told);
    expect(rest).toBe('\n]');
    expect(jsonArrayFraming.kindOfRest(Buffer.from(rest), null)).toBe('nothing');
  });

  test('that is cut within an element keeps that back', () => {
    const { values, passed, rest } = read('[{"a":1},{"b":"}', 3);
    expect([values, passed, rest]).toEqual([[{ a: 1 }], '[{"a":1}', ',{"b":"}']);
    expect(jsonArrayFraming.kindOfRest(Buffer.from(rest), null)).toBe('piece');
  });

  test('passes an element as it comes that is too large to be held', () => {
    const large = `[{"a":"${'x'.repeat(100)}"},{"b":1}`;
    expect(read(large, 7, 50)).toMatchObject({ values: [{ b: 1 }], passed: large, rest: '' });
    expect(read(large.slice(0, 80), 7, 50)).toMatchObject({ passed: large.slice(0, 80), insideEvent: true });
  });

  test('has events that no client could parse', () => {
    for (const event of ['[{a}', 'x{}', ',']) expect(jsonArrayFraming.readEvent(Buffer.from(event))).toBeNull();
  });
});
