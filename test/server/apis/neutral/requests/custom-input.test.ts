/** The text of a custom tool, extracted from the arguments of a function as they arrive. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CustomInputReader,
  customInput,
  isCutInput,
} from '../../../../../server/apis/neutral/requests/custom-input.ts';
import { dataOf, type Json, streamed, streamOf, translate } from '../../translation/translating.ts';

describe('the input of a custom tool', () => {
  test('is the same however its arguments are divided, and never contains half a character', () => {
    const pieces = fc.tuple(fc.string({ unit: 'binary' }), fc.boolean(), fc.array(fc.nat(40)));
    fc.assert(
      fc.property(pieces, ([input, isEscaped, lengths]) => {
        const json = JSON.stringify({ input });
        const given = isEscaped
          ? json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : json;
        const reader = new CustomInputReader();
        const told: string[] = [];
        let at = 0;
        for (const length of [...lengths, given.length]) {
          told.push(reader.push(given.slice(at, at + length)));
          at += length;
        }
        expect(told.join('')).toBe(input);
        expect(told.every((text) => text.isWellFormed())).toBe(true);
      }),
      { seed: 2 },
    );
  });

  test('that stands after something else is told in the end', () => {
    const reader = new CustomInputReader();
    expect(reader.push('{"why":"x","input":"y"}')).toBe('');
    expect(reader.hasReturnedNothing).toBe(true);
    expect(customInput('{"why":"x","input":"y"}')).toBe('y');
  });

  test.each([
    ['{"input":"x', true],
    ['{"input":"x"}', false],
    ['*** Begin Patch', false],
    ['', false],
  ])('%j is cut: %s', (given, isCut) => expect(isCutInput(given)).toBe(isCut));
});

const asked = { model: 'm', input: 'x', tools: [{ type: 'custom', name: 'apply_patch' }], stream: true };
const request = translate({ from: 'openai-responses', to: 'openai-chat', model: 'llama' }, asked);
const chunk = (called: Json, finish: string | null = null) => ({
  choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: called }] }, finish_reason: finish }],
});

test('a patch comes piece by piece', () => {
  const pieces = ['{"inp', 'ut":"*** Be', 'gin\\', 'n+x', '"}'].map((text) => chunk({ arguments: text }));
  const stream = streamOf(
    [chunk({ name: 'apply_patch', arguments: '' }), ...pieces, chunk({}, 'tool_calls'), '[DONE]'],
    false,
  );
  const events = dataOf(streamed(request, [stream])) as Json[];
  const deltas = events
    .filter(({ type }) => type === 'response.custom_tool_call_input.delta')
    .map(({ delta }) => delta);
  expect(deltas).toEqual(['*** Be', 'gin', '\n+x']);
});

test('a patch that breaks off is never given as a whole one, for a part of it would be applied', () => {
  const stream = streamOf([chunk({ name: 'apply_patch', arguments: '{"input":"*** Be' }, 'length'), '[DONE]'], false);
  const told = dataOf(streamed(request, [stream])) as Json[];
  expect(told.map(({ type }) => type)).not.toContain('response.output_item.done');
  expect(told.map(({ type }) => type)).not.toContain('response.custom_tool_call_input.done');
  expect(told.at(-1)).toMatchObject({
    type: 'response.incomplete',
    response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [] },
  });
  const message = { tool_calls: [{ id: 'a', function: { name: 'apply_patch', arguments: '{"input":"*** Be' } }] };
  expect(request.whole(Buffer.from(JSON.stringify({ choices: [{ message }] })), { createdAt: 1 })).toMatchObject({
    ok: false,
  });
});
