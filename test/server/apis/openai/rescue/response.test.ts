/** A response combined from two streams, for any text and any cuts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { takeEvents } from '../../../../../server/apis/core/wire.ts';
import { ResponseSplice, ResponseText } from '../../../../../server/apis/openai/rescue/response.ts';

const at = (who: string) => ({ item_id: `msg_${who}`, output_index: 0, content_index: 0 });

/** An upstream's events for a text in these pieces, up to the end of the message. */
function eventsOf(who: string, pieces: readonly string[]): string[] {
  const item = { id: `msg_${who}`, type: 'message', role: 'assistant', content: [] };
  const text = pieces.join('');
  return [
    { type: 'response.created', response: { id: `resp_${who}` } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...at(who), part: { type: 'output_text', text: '' } },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at(who), delta, obfuscation: who })),
    { type: 'response.output_text.done', ...at(who), text },
  ].map(({ type, ...rest }, sequence_number) => JSON.stringify({ type, sequence_number, ...rest }));
}

const toEvent = (data: string) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`;
const deltasOf = (events: string) =>
  [...events.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data).delta ?? '').join('');

/** May also cut through a surrogate pair. */
const cut = (text: string, places: readonly number[]) => {
  const sorted = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
};
const places = fc.array(fc.nat(), { maxLength: 8 });
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\u{1F30D}') }),
);

test('says the whole text once, counted without a gap', () => {
  fc.assert(
    fc.property(anyText, places, places, fc.nat(), fc.nat(), (text, ours, theirs, until, chunk) => {
      const first = eventsOf('one', cut(text, ours));
      const kept = first.slice(0, 2 + (until % (first.length - 1))).map(toEvent);
      const soFar = new ResponseText();
      // In pieces of several events each, as the gate passes them on.
      const size = 1 + (chunk % 3);
      for (let index = 0; index < kept.length; index += size) {
        takeEvents(soFar, Buffer.from(kept.slice(index, index + size).join('')));
      }
      const read = soFar.read();
      expect(read?.text).toBe(deltasOf(kept.join('')));
      if (!read) return;
      const splice = new ResponseSplice(read);
      const rest = eventsOf('two', cut(text, theirs)).map((data) => splice.take(data)?.toString() ?? '');
      expect([splice.isDifferent, splice.upstreamId]).toEqual([false, 'resp_two']);
      const all = kept.join('') + rest.join('');
      expect(deltasOf(all)).toBe(text);
      expect(all).not.toContain('msg_two');
      const numbers = [...all.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
      expect(numbers).toEqual(numbers.map((_, index) => index));
      expect(all.match(/"type":"response.output_text.done"/g)).toHaveLength(1);
    }),
  );
});

test('notices a text that is not the same, at the first place where it differs', () => {
  const soFar = new ResponseText();
  takeEvents(soFar, Buffer.from(eventsOf('one', ['Once upon']).slice(0, -1).map(toEvent).join('')));
  const read = soFar.read();
  const splice = read && new ResponseSplice(read);
  const taken = eventsOf('two', ['Once', ' up', 'on', ' a']).map((data) => splice?.take(data)?.toString() ?? null);
  expect(taken.slice(0, 6)).toEqual([null, null, null, null, null, null]);
  expect(taken[6]).toContain('"delta":" a"');
  const differing = read && new ResponseSplice(read);
  const verdicts = eventsOf('two', ['Once', ' in']).map((data) => {
    const sent = differing?.take(data) ?? null;
    return [sent, differing?.isDifferent];
  });
  expect(verdicts.slice(3, 5)).toEqual([
    [null, false],
    [null, true],
  ]);
});

const item = (type: string) => ({ type: 'response.output_item.added', output_index: 1, item: { type, id: 'x' } });
test.each([
  item('function_call'),
  item('message'),
  { type: 'response.refusal.delta', ...at('one'), delta: 'No' },
  { type: 'response.output_text.annotation.added', ...at('one'), annotation: {} },
  { type: 'response.content_part.added', ...at('one'), content_index: 1, part: { type: 'output_text', text: '' } },
  { type: 'response.content_part.added', ...at('one'), part: { type: 'refusal', refusal: '' } },
  { type: 'error', message: 'x' },
])('cannot be continued after %j', (event) => {
  const text = new ResponseText();
  takeEvents(text, Buffer.from(eventsOf('one', ['Once']).slice(0, -1).map(toEvent).join('')));
  expect(text.read()?.text).toBe('Once');
  takeEvents(text, Buffer.from(toEvent(JSON.stringify(event))));
  expect(text.read()).toBeNull();
});

test('tells in its error event of the response that the client knows, at the next number', () => {
  const text = new ResponseText();
  takeEvents(text, Buffer.from(eventsOf('one', ['Once']).slice(0, -1).map(toEvent).join('')));
  takeEvents(text, Buffer.from(': ping\n\n'));
  const told = text.errorEvent({ message: 'It broke.', type: 'server_error', param: null, code: 'x' });
  expect(told).toContain('"sequence_number":4,"error"');
  expect(told).toContain('"sequence_number":5,"response":{"id":"resp_one"');
});

test('is not held beyond half a mebibyte', () => {
  const text = new ResponseText();
  const events = eventsOf(
    'one',
    Array.from({ length: 40 }, () => 'x'.repeat(30_000)),
  );
  for (const event of events.slice(0, 20)) takeEvents(text, Buffer.from(toEvent(event)));
  expect(text.read()?.text).toHaveLength(17 * 30_000);
  for (const event of events.slice(20)) takeEvents(text, Buffer.from(toEvent(event)));
  expect(text.read()).toBeNull();
});
