/**
 * Tools that Claude's clients load on demand, in the other APIs. The requests are those of Claude Code 2.1.197 with its
 * tool ToolSearch; `real-tool-search.test.ts` runs it.
 */
import { describe, expect, test } from 'vitest';
import { complaintsOf } from './strict-upstreams.ts';
import { type Json, lossesOf, sent, type Way } from './translating.ts';

const ways: readonly Way[] = [
  { from: 'anthropic-messages', to: 'openai-chat', model: 'llama-3.3-70b' },
  { from: 'anthropic-messages', to: 'openai-responses', model: 'gpt-5.4' },
  { from: 'anthropic-messages', to: 'gemini-generate', model: 'gemini-3-pro' },
  { from: 'anthropic-messages', to: 'bedrock-converse', model: 'us.meta.llama3-3-70b-instruct-v1:0' },
];

const schema = { type: 'object', properties: { value: { type: 'number' } } };
const search = { name: 'ToolSearch', description: 'Finds tools', input_schema: schema };
const deferred = (name: string) => ({ name, description: name, input_schema: schema, defer_loading: true });
const found = (...names: string[]) => names.map((name) => ({ type: 'tool_reference', tool_name: name }));

const ask = { role: 'user', content: 'convert 3' };
const searched = [
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'x' } }] },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: found('mcp__many__seven') },
      { type: 'text', text: 'Tool loaded.' },
    ],
  },
];
const asked = (tools: Json[], messages: Json[], more: Json = {}): Json => ({
  model: 'm',
  max_tokens: 9,
  tools,
  messages,
  ...more,
});

/** The names of the tools that the model is offered, in every API. */
function offered(body: Json): string[] {
  const text = JSON.stringify(body.tools ?? body.toolConfig ?? []);
  return [...text.matchAll(/"name":"([^"]+)"/g)].map(([, name = '']) => name);
}

describe.each(ways)('to $to', (way) => {
  test('a tool that was found is offered like any other, and its name is in the result', () => {
    const request = asked([search, deferred('mcp__many__seven')], [ask, ...searched]);
    const body = sent(way, request);
    expect(offered(body)).toEqual(['ToolSearch', 'mcp__many__seven']);
    expect(JSON.stringify(body)).toContain('Tool: mcp__many__seven');
    expect(JSON.stringify(body)).not.toMatch(/defer_loading|tool_reference/);
    expect(complaintsOf(way.to, body)).toEqual([]);
    expect(lossesOf(way, request).filter((loss) => loss.includes('defer_loading'))).toEqual([]);
  });

  test('a tool that was not found is not offered, as at Anthropic', () => {
    const tools = [search, ...Array.from({ length: 40 }, (_, index) => deferred(`mcp__many__${index}`))];
    expect(offered(sent(way, asked(tools, [ask])))).toEqual(['ToolSearch']);
    const more = [...tools, deferred('mcp__many__seven')];
    expect(offered(sent(way, asked(more, [ask, ...searched])))).toEqual(['ToolSearch', 'mcp__many__seven']);
  });

  test('a tool stays offered once it was called, although the result that found it is gone', () => {
    const called = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_2', name: 'mcp__many__seven', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2', content: 'Nine' }] },
    ];
    const body = sent(way, asked([search, deferred('mcp__many__seven')], [ask, ...called]));
    expect(offered(body)).toEqual(['ToolSearch', 'mcp__many__seven']);
  });

  test('a tool that must be called is offered', () => {
    const choice = { tool_choice: { type: 'tool', name: 'mcp__many__seven' } };
    const body = sent(way, asked([search, deferred('mcp__many__seven')], [ask], choice));
    expect(offered(body)).toContain('mcp__many__seven');
  });

  test('all tools are offered where Anthropic would have searched, and that is told', () => {
    const tools = [
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      deferred('mcp__many__seven'),
      deferred('mcp__many__eight'),
    ];
    const request = asked(tools, [ask]);
    expect(offered(sent(way, request))).toEqual(['mcp__many__seven', 'mcp__many__eight']);
    expect(lossesOf(way, request)).toEqual(
      expect.arrayContaining(['dropped tools[0]: provider-tool', 'dropped tools[1].defer_loading: no-equal']),
    );
  });

  test('what Anthropic’s own search has found earlier is named and offered', () => {
    const result = {
      type: 'tool_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'tool_search_tool_search_result', tool_references: found('mcp__many__seven') },
    };
    const earlier = { role: 'assistant', content: [result, { type: 'text', text: 'Found.' }] };
    const body = sent(way, asked([search, deferred('mcp__many__seven')], [ask, earlier, ask]));
    expect(offered(body)).toEqual(['ToolSearch', 'mcp__many__seven']);
    const { tools: _tools, toolConfig: _config, ...rest } = body;
    expect(JSON.stringify(rest)).toContain('mcp__many__seven');
  });
});
