/** How clients are notified of losses, and the second request after a signature was refused. */
import { describe, expect, test } from 'vitest';
import { withoutThinking } from '../../../../server/apis/anthropic/translation/translation.ts';
import { type Loss, lossHeaders, noteLosses, refusalOf } from '../../../../server/apis/neutral/losses.ts';

const dropped = (field: string): Loss => ({ fate: 'dropped', field, code: 'no-equal' });

describe('losses', () => {
  test('stand in headers by what became of them', () => {
    expect(
      lossHeaders([
        dropped('top_k'),
        { fate: 'emulated', field: 'response_format', code: 'in-prompt' },
        { fate: 'carried', field: 'tools[0].name', code: 'renamed' },
        dropped('seed'),
      ]),
    ).toEqual({
      'x-sluice-dropped': 'top_k;why=no-equal, seed;why=no-equal',
      'x-sluice-emulated': 'response_format;why=in-prompt',
    });
    expect(lossHeaders([])).toEqual({});
  });

  test('are only counted if there are too many', () => {
    const value = lossHeaders(Array.from({ length: 200 }, (_, index) => dropped(`messages[${index}]`)))[
      'x-sluice-dropped'
    ];
    expect(value?.length).toBeLessThanOrEqual(1040);
    expect(value).toMatch(/, \+\d+$/);
    expect(Number(value?.split('+')[1]) + (value?.split(', ').length ?? 0) - 1).toBe(200);
  });

  test.each(['a\r\nb', 'ü', 'a,b;c', 'x'.repeat(5000)])('keep what no header may hold out of it: %j', (field) => {
    expect(lossHeaders([dropped(field)])['x-sluice-dropped']).toMatch(/^[\x21-\x7e]{1,220}$/);
  });

  test('are recorded once per place, with their number', () => {
    const marks = [0, 1, 2].map((turn) => dropped(`messages[${turn}].content[${turn + 9}].cache_control`));
    expect(
      noteLosses([dropped('top_k'), ...marks, { fate: 'emulated', field: 'x', code: 'in-prompt' }], 'dropped'),
    ).toEqual([
      { code: 'no-equal', field: 'top_k', times: 1 },
      { code: 'no-equal', field: 'messages[].content[].cache_control', times: 3 },
    ]);
  });

  test('are noted within a bound, whatever the client calls its fields', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => dropped(`field-${index}\n${'x'.repeat(1_000)}`));
    const notes = noteLosses(many, 'dropped');
    expect(notes).toHaveLength(32);
    for (const { field } of notes) expect(field).toMatch(/^[\x21-\x7e]{1,200}$/);
  });

  test('of a history without end are read no further in the headers than these have room', () => {
    let reads = 0;
    const loss = (index: number): Loss => ({
      fate: 'dropped',
      code: 'no-equal',
      get field() {
        reads++;
        return `messages[${index}].content[0].cache_control`;
      },
    });
    const many = Array.from({ length: 10_000 }, (_, index) => loss(index));
    expect(lossHeaders(many)['x-sluice-dropped']).toMatch(/, \+\d+$/);
    expect(reads).toBeLessThan(100);
    expect(noteLosses(many, 'dropped')).toEqual([
      { code: 'no-equal', field: 'messages[].content[].cache_control', times: 10_000 },
    ]);
  });

  test('are a refusal for a client that accepts none', () => {
    expect(refusalOf([dropped('top_k')])).toMatchObject({ code: 'invalid_value', param: 'top_k' });
    expect(refusalOf([{ fate: 'carried', field: 'x', code: 'renamed' }])).toBeNull();
  });
});

describe('a body without its thinking', () => {
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'Ev==' };
  const text = { type: 'text', text: 'x' };
  const ask = (request: object) => {
    const body = withoutThinking(Buffer.from(JSON.stringify(request)));
    return body === null ? null : JSON.parse(body.toString());
  };

  test('has all else, and no thinking that wants more of it', () => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [thinking, { type: 'redacted_thinking', data: 'x' }, text] },
      { role: 'assistant', content: [thinking] },
    ];
    const request = { model: 'm', messages, thinking: { type: 'enabled', budget_tokens: 2000 }, tools: [] };
    expect(ask(request)).toEqual({
      model: 'm',
      messages: [messages[0], { role: 'assistant', content: [text] }],
      tools: [],
    });
    expect(ask({ ...request, thinking: { type: 'adaptive' } })).toMatchObject({ thinking: { type: 'adaptive' } });
  });

  test.each([
    { messages: [{ role: 'user', content: [text] }] },
    { messages: 'x' },
    [],
    { messages: [null, { content: 'x' }] },
  ])('is none where there is none: %j', (request) => expect(ask(request)).toBeNull());
});
