import { describe, expect, it } from 'vitest';
import { beginAnswer, toMessages, withChunk, withUserInput } from '../../../../renderer/state/chat/conversation.ts';
import { type Chat, emptyChat, readChat, writeChat } from '../../../../renderer/state/chat/kept-chat.ts';

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

describe('a conversation that is kept', () => {
  const imageOf = (chars: number) => `data:image/png;base64,${'A'.repeat(chars)}`;
  const chatOf = (...turns: [text: string, image: string | null][]): Chat => ({
    ...emptyChat,
    lanes: [turns.reduce<ReturnType<typeof withUserInput>>((said, turn) => withUserInput(said, ...turn), [])],
  });
  const kept = (chat: Chat) => readChat(writeChat({ chat, model: 'm' }, 'ann') ?? '', 'ann');

  it('comes back as it was, to the person who had it', () => {
    const chat = { ...chatOf(['What?', imageOf(100)]), text: 'half a thought' };
    expect(kept(chat)).toEqual({ chat, model: 'm' });
    expect(readChat(writeChat({ chat, model: null }, 'ann') ?? '', 'bob')).toBeNull();
  });

  it.each([
    ['one that is too large', [1_200_000, 100], [true, false]],
    ['all that are too large together', [900_000, 900_000, 900_000, 900_000], [true, true, true, true]],
  ])('lacks images: %s', (_, sizes, lost) => {
    const [turns = []] =
      kept(chatOf(...sizes.map((size): [string, string] => ['See', imageOf(size)])))?.chat.lanes ?? [];
    expect(turns.map(({ text, image, lostImage }) => [text, image === null, lostImage])).toEqual(
      lost.map((isLost) => ['See', isLost, isLost]),
    );
  });

  it.each([
    ['nothing', emptyChat],
    ['more than a window can store', chatOf(['x'.repeat(3_000_000), null])],
  ])('is none for %s', (_, chat) => {
    expect(writeChat({ chat, model: 'm' }, 'ann')).toBeNull();
  });

  it.each([
    '',
    '{}',
    '{"person":"ann"}',
    '{"person":"ann","chat":{"lanes":[]}}',
    '{"person":"ann","chat":{"lanes":[[{"text":"of an earlier version"}]]}}',
    '{"person":"ann","chat":{"lanes":[null]}}',
  ])('is none for what is stored as %s', (stored) => {
    expect(readChat(stored, 'ann')).toBeNull();
  });
});
