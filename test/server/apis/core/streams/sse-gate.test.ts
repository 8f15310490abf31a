import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SseGate } from '../../../../../server/apis/core/sse-framing.ts';
import type { ComparedBytes, EventFilter, GateOptions } from '../../../../../server/apis/core/stream-format.ts';
import { tries } from '../../../../support/sweep.ts';

const lineEnd = fc.constantFrom('\n', '\r\n');
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((value) => value.replace(/[\r\n]/g, '·')),
  fc.constantFrom('data: [DONE]', 'data: {"a":"漢字 🙂"}', ': comment', 'data:', 'id: 1', 'event: x', 'ü'),
);
const line = fc.tuple(
  text.filter((value) => value.length > 0),
  lineEnd,
);
/** Some lines and a blank one, each with its own kind of line end. */
const event = fc
  .tuple(fc.array(line, { minLength: 0, maxLength: 4 }), lineEnd)
  .map(([lines, blank]) => lines.map(([content, end]) => content + end).join('') + blank);
const events = fc.array(event, { minLength: 1, maxLength: 6 });

/** Cuts `bytes` at the given places, as a network might. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const bounds = [0, ...sorted, bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

interface Run {
  /** Everything that was written, in the original pieces. */
  written: Buffer[];
  /** The complete events that the filter received. */
  seen: Buffer[];
  /** The number of bytes written after each chunk, and whether the gate was inside an event. */
  states: { sent: number; inside: boolean }[];
  gate: SseGate;
}

function run(chunks: readonly Buffer[], filter: EventFilter, known?: GateOptions['known']): Run {
  const written: Buffer[] = [];
  const seen: Buffer[] = [];
  const watching: EventFilter = (bytes, whole) => {
    if (whole) seen.push(Buffer.from(bytes));
    return filter(bytes, whole);
  };
  const options = { filter: watching, ...(known && { known }) };
  let sent = 0;
  const gate = new SseGate((bytes) => {
    sent += bytes.length;
    written.push(Buffer.from(bytes));
  }, options);
  const states: Run['states'] = [];
  for (const chunk of chunks) {
    gate.push(chunk);
    states.push({ sent, inside: gate.insideEvent });
  }
  return { written, seen, states, gate };
}

const identity: EventFilter = (bytes) => bytes;
const modes: [string, EventFilter][] = [
  ['with a filter that changes nothing', identity],
  ['with a filter that answers with a copy', (bytes) => Buffer.from(bytes)],
];

/** Offsets at which an event ends: also before the LF of its last CRLF, since a CR alone is a line end as well. */
function ends(list: readonly string[]): Set<number> {
  let offset = 0;
  return new Set([
    0,
    ...list.flatMap((item) => {
      offset += Buffer.byteLength(item);
      return item.endsWith('\r\n') ? [offset - 1, offset] : [offset];
    }),
  ]);
}

describe.each(modes)('a stream %s', (_name, filter) => {
  test('passes unchanged, wherever it is cut, and in whole events only', () => {
    fc.assert(
      fc.property(events, fc.array(fc.nat(), { maxLength: 12 }), (list, places) => {
        const bytes = Buffer.from(list.join(''));
        const { written, states } = run(cutAt(bytes, places), filter);
        expect(Buffer.concat(written).equals(bytes)).toBe(true);
        const allowed = ends(list);
        for (const { sent, inside } of states) {
          expect(allowed.has(sent)).toBe(true);
          expect(inside).toBe(false);
        }
      }),
      { numRuns: tries(2_000) },
    );
  });

  test('passes unchanged when cut at every byte', () => {
    fc.assert(
      fc.property(events, (list) => {
        const bytes = Buffer.from(list.join(''));
        const single = Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1));
        expect(Buffer.concat(run(single, filter).written).equals(bytes)).toBe(true);
        for (let place = 0; place <= bytes.length; place++) {
          expect(Buffer.concat(run(cutAt(bytes, [place]), filter).written).equals(bytes)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('sends an event as soon as its blank line is there', () => {
    fc.assert(
      fc.property(events, fc.array(fc.nat(), { maxLength: 12 }), (list, places) => {
        const bytes = Buffer.from(list.join(''));
        const chunks = cutAt(bytes, places);
        const complete = [...ends(list)];
        let received = 0;
        run(chunks, filter).states.forEach(({ sent }, index) => {
          received += chunks[index]?.length ?? 0;
          expect(sent).toBe(Math.max(...complete.filter((end) => end <= received)));
        });
      }),
      { numRuns: tries(500) },
    );
  });

  test('holds back an event that has not ended, and returns it on request', () => {
    fc.assert(
      fc.property(events, fc.array(fc.nat(), { maxLength: 6 }), (list, places) => {
        const tail = 'data: {"half":';
        const bytes = Buffer.from(list.join('') + tail);
        const { written, gate } = run(cutAt(bytes, places), filter);
        expect(Buffer.concat(written).toString()).toBe(list.join(''));
        expect(gate.takeRest().toString()).toBe(tail);
        expect(gate.takeRest()).toHaveLength(0);
      }),
      { numRuns: tries(500) },
    );
  });

  test('passes an event of any size unchanged, and reports when it is inside one', () => {
    const sizes = fc.integer({ min: 60 * 1024, max: 300 * 1024 });
    fc.assert(
      fc.property(
        events,
        sizes,
        lineEnd,
        events,
        fc.integer({ min: 1_000, max: 40_000 }),
        (before, size, end, after, step) => {
          const huge = `data: ${'é'.repeat(size / 2)}${end}${end}`;
          const list = [...before, huge, ...after];
          const bytes = Buffer.from(list.join(''));
          const chunks = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) =>
            bytes.subarray(index * step, (index + 1) * step),
          );
          const { written, states } = run(chunks, filter);
          expect(Buffer.concat(written).equals(bytes)).toBe(true);
          const allowed = ends(list);
          for (const { sent, inside } of states) expect(inside).toBe(!allowed.has(sent));
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Additional empty lines between events need not be passed to the filter. */
const isNoEmptyLine = (event: string) => event.trim() !== '';
const shown = (seen: readonly Buffer[]) => seen.map(String).filter(isNoEmptyLine);
/** An event whose last CRLF was cut in the middle is complete without the LF. */
const completed = (event: string) => event.replace(/(\n|^)\r$/, '$1\r\n');

describe('lines that end in CR alone', () => {
  const listOf = (list: string[]) => list.map((item) => item.replaceAll(/\r?\n/g, '\r'));

  test('pass unchanged, event by event, wherever they are cut', () => {
    // A stream that begins with blank lines does not yet show which line ends it uses.
    const begun = fc.tuple(line, events).map(([[content], list]) => listOf([`${content}\n\n`, ...list]));
    fc.assert(
      fc.property(begun, fc.array(fc.nat(), { maxLength: 12 }), (list, places) => {
        const bytes = Buffer.from(list.join(''));
        for (const [, filter] of modes) {
          const { written, seen, states } = run(cutAt(bytes, places), filter);
          expect(Buffer.concat(written).equals(bytes)).toBe(true);
          expect(shown(seen)).toEqual(list.filter(isNoEmptyLine));
          for (const { sent } of states) expect(ends(list).has(sent)).toBe(true);
        }
      }),
      { numRuns: tries(1_000) },
    );
  });

  test('end an event also after lines that ended in LF', () => {
    const { written } = run([Buffer.from('data: 1\n\ndata: 2\r\r'), Buffer.from('data: 3\n\n')], identity);
    expect(written.map(String)).toEqual(['data: 1\n\ndata: 2\r\r', 'data: 3\n\n']);
  });
});

describe('lines that end in LF, CRLF and CR in any mixture', () => {
  const anyEnd = fc.constantFrom('\n', '\r\n', '\r');
  const lines = fc.array(fc.tuple(fc.oneof(text, fc.constant('')), anyEnd), { minLength: 1, maxLength: 30 });
  /** As the standard says: every line end is one, and an empty line ends an event. */
  const eventsIn = (stream: string) =>
    stream
      .replaceAll(/\r\n|\r/g, '\n')
      .split(/(?<=(?:^|\n)\n)/)
      .map((event) => event.replaceAll(/^\n+|\n+$/g, ''))
      .filter((event) => event !== '');

  test('pass unchanged and lose no event, wherever they are cut', () => {
    fc.assert(
      fc.property(lines, fc.array(fc.nat(), { maxLength: 12 }), (list, places) => {
        const bytes = Buffer.from(list.map(([content, end]) => content + end).join(''));
        for (const chunks of [cutAt(bytes, places), cutAt(bytes, [...bytes.keys()])]) {
          const { written, seen, gate } = run(chunks, identity);
          const rest = gate.takeRest();
          expect(Buffer.concat([...written, rest]).equals(bytes)).toBe(true);
          const found = [...seen.map(String), String(rest)].flatMap((event) => {
            const within = eventsIn(event);
            expect(within.length).toBeLessThanOrEqual(1);
            return within;
          });
          expect(found).toEqual(eventsIn(String(bytes)));
        }
      }),
      { numRuns: tries(2_000) },
    );
  });
});

describe('a filter', () => {
  test('sees each event but empty lines once, whole, in order, wherever the stream is cut', () => {
    fc.assert(
      fc.property(events, fc.array(fc.nat(), { maxLength: 12 }), (list, places) => {
        const { seen } = run(cutAt(Buffer.from(list.join('')), places), identity);
        expect(shown(seen).map(completed)).toEqual(list.filter(isNoEmptyLine));
      }),
      { numRuns: tries(2_000) },
    );
  });

  test('can take events out and put others in their place', () => {
    const replace: EventFilter = (bytes) => {
      const content = bytes.toString();
      if (content.includes('漢')) return null;
      return content.startsWith(':') ? Buffer.from('data: changed\n\n') : bytes;
    };
    fc.assert(
      fc.property(events, fc.array(fc.nat(), { maxLength: 12 }), (list, places) => {
        const { written } = run(cutAt(Buffer.from(list.join('')), places), replace);
        const expected = list
          .filter((item) => !item.includes('漢'))
          .map((item) => (item.startsWith(':') ? 'data: changed\n\n' : item));
        // The LF of a CRLF that was cut passes as an empty line.
        const compact = (pieces: string) =>
          pieces
            .replaceAll(/\r\n|\r/g, '\n')
            .replaceAll(/\n{3,}/g, '\n\n')
            .trim();
        expect(compact(Buffer.concat(written).toString())).toBe(compact(expected.join('')));
      }),
      { numRuns: tries(1_000) },
    );
  });

  test('sees the beginning of a huge event once, and cannot take it out', () => {
    const beginnings: Buffer[] = [];
    const takeAll: EventFilter = (bytes, whole) => {
      if (!whole) beginnings.push(Buffer.from(bytes));
      return null;
    };
    const huge = Buffer.from(`event: image\ndata: ${'x'.repeat(200_000)}\n\n`);
    const chunks = cutAt(huge, [1, 5_000, 70_000, 71_000, 150_000]);
    const { written, seen } = run(chunks, takeAll);
    expect(Buffer.concat(written).equals(huge)).toBe(true);
    expect(beginnings).toHaveLength(1);
    expect(beginnings[0]?.equals(huge.subarray(0, 70_000))).toBe(true);
    expect(seen).toEqual([]);
  });
});

test('events of a known shape are not shown to the filter, and are sent without what is cut from them', () => {
  const usual = 'data: {"a":"x"}\n\n';
  const known = {
    find({ bytes }: ComparedBytes, from: number) {
      const end = from + usual.length;
      return bytes.toString('latin1', from, end) === usual ? { end, cutStart: from + 7, cutEnd: from + 14 } : null;
    },
  };
  const list = fc.array(fc.oneof(fc.constant(usual), event), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(list, fc.array(fc.nat(), { maxLength: 6 }), (events, places) => {
      const cutOut: EventFilter = (bytes) => Buffer.from(bytes.toString().replace(usual, 'data: {}\n\n'));
      const chunks = cutAt(Buffer.from(events.join('')), places);
      const { written, seen, states } = run(chunks, cutOut, known);
      expect(Buffer.concat(written).toString()).toBe(events.join('').replaceAll(usual, 'data: {}\n\n'));
      expect(seen.map(String)).not.toContain(usual);
      for (const { inside } of states) expect(inside).toBe(false);
    }),
    { numRuns: tries(1_000) },
  );
  expect(run([Buffer.from(usual.repeat(3))], identity, known).seen).toEqual([]);
});

test('several events that come together are written in one piece', () => {
  expect(run([Buffer.from('data: 1\n\ndata: 2\r\n\r\ndata: 3\n\n')], identity).written).toHaveLength(1);
});

test.each([
  ['a byte order mark at its beginning', '\ufeffdata: 1\n\ndata: 2\n\n', 'data: 1\n\ndata: 2\n\n'],
  ['one at the beginning of its second event', 'data: 1\n\n\ufeffdata: 2\n\n', 'data: 1\n\n\ufeffdata: 2\n\n'],
  ['two of them', '\ufeff\ufeffdata: 1\n\n', '\ufeffdata: 1\n\n'],
])('of a stream with %s only the very first mark is left out, wherever it is cut', (_what, sent, passed) => {
  const bytes = Buffer.from(sent);
  for (let place = 0; place <= bytes.length; place++) {
    for (const places of [[place], [place, place + 1], [1, 2, place]]) {
      expect(Buffer.concat(run(cutAt(bytes, places), identity).written).toString()).toBe(passed);
    }
  }
});

test('what only begins like a byte order mark passes', () => {
  const [half, other] = [Buffer.from([0xef, 0xbb]), Buffer.from([0xef, 0xbb, 0x0a, 0x0a])];
  for (const places of [[], [1], [1, 2], [2], [3]]) {
    expect(run(cutAt(half, places), identity).gate.takeRest().equals(half)).toBe(true);
    expect(Buffer.concat(run(cutAt(other, places), identity).written).equals(other)).toBe(true);
  }
});
