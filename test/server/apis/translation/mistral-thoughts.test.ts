/** Answers of Mistral's reasoning models, whose `content` may be a list. Source: Mistral docs, "Reasoning". */
import { expect, test } from 'vitest';
import { answered, dataOf, everySplit, type Json, streamed, streamOf, translate, type Way } from './translating.ts';

const way: Way = { from: 'anthropic-messages', to: 'openai-chat', model: 'magistral-medium-latest' };
const asked = { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }] };
const thought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
const text = (said: string) => ({ type: 'text', text: said });
const blocks = [{ type: 'thinking', thinking: 'Hm, yes.' }, text('Hi you')];

test('a whole answer has its thoughts and its text', () => {
  const message = { role: 'assistant', content: [thought('Hm, yes.'), text('Hi you')] };
  const { content } = answered(translate(way, asked), { choices: [{ message, finish_reason: 'stop' }] });
  expect(content).toMatchObject(blocks);
});

test('a stream has its thoughts and its text, as a list or plain', () => {
  const chunk = (content: unknown, finish: string | null = null) => ({
    id: 'c',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  });
  const contents = [[thought('Hm,')], [thought(' yes.')], [text('Hi ')], 'you'];
  const stream = streamOf([...contents.map((content) => chunk(content)), chunk('', 'stop'), '[DONE]'], false);
  const told = streamed(translate(way, { ...asked, stream: true }), [stream]);
  expect(blocksOf(dataOf(told) as Json[])).toEqual(blocks);
  for (const pieces of everySplit(stream))
    expect(streamed(translate(way, { ...asked, stream: true }), pieces)).toBe(told);
});

function blocksOf(events: Json[]): Json[] {
  const found: Record<string, string>[] = [];
  for (const { delta } of events as { delta?: Record<string, string> }[]) {
    const [type, member] = delta?.type === 'thinking_delta' ? ['thinking', 'thinking'] : ['text', 'text'];
    if (delta?.[member] === undefined) continue;
    if (found.at(-1)?.type !== type) found.push({ type, [member]: '' });
    const last = found.at(-1) ?? {};
    last[member] += delta[member];
  }
  return found;
}
