/** The `cache_control` of a whole request, which the clouds do not accept for Claude. */
import { describe, expect, test } from 'vitest';
import { claudeOnBedrock } from '../../../server/apis/bedrock/provider/bedrock.ts';
import { modelOnVertex } from '../../../server/apis/gemini/vertex/vertex.ts';

const mark = { type: 'ephemeral', ttl: '1h' };
const text = { type: 'text', text: 'Hi' };
const thinking = { type: 'thinking', thinking: 'Hm', signature: 's' };
const earlier = { role: 'user', content: 'Before' };

describe.each([
  ['Bedrock', claudeOnBedrock('anthropic.claude-opus-4-5')],
  ['Vertex AI', modelOnVertex('claude-opus-4-5')],
])('%s', (_name, hosted) => {
  const { rewrite } = hosted.envelope({ path: '/messages', headers: {}, isStream: false });

  test.each([
    ['a text', 'Hi', [{ ...text, cache_control: mark }]],
    ['blocks', [text, text], [text, { ...text, cache_control: mark }]],
    ['a thought at the end', [text, thinking], [{ ...text, cache_control: mark }, thinking]],
    ['a block that is marked', [{ ...text, cache_control: mark }], [{ ...text, cache_control: mark }]],
    ['nothing that can be cached', [thinking], [thinking]],
  ])('is given a request’s mark at the last block of %s', (_what, content, marked) => {
    const body = { max_tokens: 9, messages: [earlier, { role: 'user', content }], cache_control: mark };
    expect(rewrite?.(body, JSON.stringify)).toEqual({
      max_tokens: 9,
      messages: [earlier, { role: 'user', content: marked }],
    });
  });

  test('is given a request without a mark as it is', () => {
    const body = { max_tokens: 9, messages: [earlier] };
    expect(rewrite?.(body, JSON.stringify)).toEqual(body);
  });
});
