import { describe, expect, it } from 'vitest';
import { beginAnswer, toMessages, withChunk, withUserInput } from '../../../../renderer/state/chat/conversation.ts';

const delta = (content: object) => ({ choices: [{ index: 0, delta: content }] });

describe('a conversation', () => {
  it('puts the pieces of two tool calls together, and answers each', () => {
    const said = withUserInput([], 'Weather?', null);
    const pieces = [
      { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'get', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 1, id: 'call_2', function: { name: 'put', arguments: '{}' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
    ];
    const answer = pieces.map(delta).reduce(withChunk, beginAnswer(said, 'm'));
    expect(answer.toolCalls).toEqual([
      { id: 'call_1', name: 'get', arguments: '{"a":1}' },
      { id: 'call_2', name: 'put', arguments: '{}' },
    ]);
    expect(toMessages('', withUserInput([...said, answer], 'sunny', null))).toEqual([
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get', arguments: '{"a":1}' } },
          { id: 'call_2', type: 'function', function: { name: 'put', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'call_2', content: 'sunny' },
    ]);
  });

  it('begins with the system message, and sends an image beside its text', () => {
    expect(toMessages('Be brief', withUserInput([], 'What?', 'data:image/png;base64,AA'))).toEqual([
      { role: 'system', content: 'Be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        ],
      },
    ]);
  });

  it('takes chunks without choices, as the one with the usage is', () => {
    const answer = [delta({ content: 'Hel' }), { choices: [], usage: {} }, delta({ content: 'lo' })].reduce(
      withChunk,
      beginAnswer([], 'm'),
    );
    expect(answer.text).toBe('Hello');
  });
});
