/** Defects of other gateways, each with a public report: `owner/repository#number`. */
import { describe, expect, test } from 'vitest';
import {
  chat,
  chatToClaude,
  chatToGemini,
  claude,
  claudeToChat,
  claudeToResponses,
  type Json,
  loop,
  lossesOf,
  moment,
  sent,
  toolResult,
  toolUse,
  translate,
  user,
  type Way,
} from './translating.ts';

const chatToConverse: Way = { from: 'openai-chat', to: 'bedrock-converse', model: 'openai.gpt-oss-120b-1:0' };
const responsesToGemini: Way = { ...chatToGemini, from: 'openai-responses' };

describe('ids and names', () => {
  test('Trap 1: an id with a colon or a blank is refused by Claude (Roo-Code#10649)', () => {
    const body = JSON.stringify(sent(chatToClaude, chat(...loop('functions.read:0'), ...loop('a b'))));
    const ids = [...body.matchAll(/"(?:id|tool_use_id)":"([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(4);
    expect(ids.every((id) => /^[a-zA-Z0-9_-]{1,64}$/.test(id ?? ''))).toBe(true);
    expect(ids[0]).toBe(ids[1]);
  });

  test('Trap 1: an id that comes in each turn is another call each time', () => {
    const { messages } = sent(chatToClaude, chat(...loop('functions.read:0'), ...loop('functions.read:0'))) as {
      messages: { content: Json[] }[];
    };
    expect(messages[1]?.content[0]?.id).not.toBe(messages[3]?.content[0]?.id);
    expect(messages[3]?.content[0]?.id).toBe(messages[4]?.content[0]?.tool_use_id);
  });

  test('Trap 2: a call of a server’s tool is no call of the client’s, and its id is none of theirs (claude-code-hub#470)', () => {
    const searched = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', url: 'a' }] },
      toolUse('toolu_1'),
    ];
    const asked = claude({ role: 'assistant', content: searched }, { role: 'user', content: [toolResult('toolu_1')] });
    const { messages } = sent(claudeToChat, asked) as { messages: { tool_calls?: Json[]; content: string }[] };
    expect(messages[1]?.tool_calls).toMatchObject([{ id: 'toolu_1' }]);
    expect(messages[1]?.content).toContain('"url":"a"');
  });

  test('Trap 3: an id of more than 64 characters is refused by OpenAI (9router#393)', () => {
    const id = `toolu_${'x'.repeat(80)}`;
    const asked = claude({ role: 'assistant', content: [toolUse(id)] }, { role: 'user', content: [toolResult(id)] });
    const [, , { call_id: called }, { call_id: answered }] = [
      null,
      ...(sent(claudeToResponses, asked).input as Json[]),
    ] as [null, Json, Json, Json];
    expect(String(called).length).toBeLessThanOrEqual(64);
    expect(answered).toBe(called);
  });

  test('Trap 4: a name of more than 64 characters is refused by OpenAI, and comes back as it was (claude-code#5132)', () => {
    const name = `mcp__${'server'.repeat(15)}__read`;
    const tools = [{ name, input_schema: { type: 'object' } }];
    const choice = { type: 'tool', name };
    const request = translate(claudeToChat, { ...claude(), tools, tool_choice: choice });
    const body = JSON.parse(request.body.toString());
    const sentName = body.tools[0].function.name;
    expect(sentName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(body.tool_choice.function.name).toBe(sentName);
    const message = { tool_calls: [{ id: 'a', function: { name: sentName, arguments: '{}' } }] };
    const answer = request.whole(Buffer.from(JSON.stringify({ choices: [{ message }] })), moment);
    expect(answer?.ok && JSON.parse(answer.body.toString()).content[0].name).toBe(name);
  });

  test('Trap 5: a tool that a result refers to is named whole, however long its name (claude-code#21492)', () => {
    const name = `mcp__${'n'.repeat(120)}`;
    const result = toolResult('a', [{ type: 'tool_reference', tool_name: name }]);
    const asked = claude({ role: 'assistant', content: [toolUse('a')] }, { role: 'user', content: [result] });
    expect(sent(claudeToChat, asked).messages).toMatchObject([{}, {}, { role: 'tool', content: `Tool: ${name}` }]);
  });

  test('Traps 6 to 8: $schema, const and a property called like a keyword fail in Gemini’s own schemas (CLIProxyAPI#1189)', () => {
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: { const: { const: 1 }, list: { type: 'array', items: {} } },
      additionalProperties: false,
    };
    const tools = [{ type: 'function', function: { name: 'read', parameters: schema } }];
    const { $schema: _, ...parametersJsonSchema } = schema;
    expect(sent(chatToGemini, { ...chat(), tools }).tools).toEqual([
      { functionDeclarations: [{ name: 'read', parametersJsonSchema }] },
    ]);
  });
});

describe('order and content', () => {
  test('Trap 9: a history that begins with a call is refused by Gemini (Antigravity-Manager#3396)', () => {
    const asked = { model: 'm', messages: [{ role: 'system', content: 'x' }, ...loop('a')] };
    expect(sent(chatToGemini, asked).contents).toMatchObject([{ role: 'user' }, { role: 'model' }, { role: 'user' }]);
  });

  test('Trap 10: reasoning before a call makes no turn of its own (CLIProxyAPI#4959)', () => {
    const input = [
      { role: 'user', content: 'x' },
      { type: 'reasoning', summary: [], encrypted_content: 'gAbc' },
      { type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'A' },
    ];
    const { contents } = sent(responsesToGemini, { model: 'm', input }) as { contents: Json[] };
    expect(contents.map(({ role, parts }) => [role, (parts as Json[]).length])).toEqual([
      ['user', 1],
      ['model', 1],
      ['user', 1],
    ]);
  });

  test('Trap 11: responses stand right after their calls, whatever the client put between (litellm#26755)', () => {
    const [called, result] = loop('a');
    const { contents } = sent(chatToGemini, chat(called, { role: 'user', content: 'Wait.' }, result)) as {
      contents: { parts: Json[] }[];
    };
    expect(contents[2]?.parts).toMatchObject([{ functionResponse: { name: 'read' } }, { text: 'Wait.' }]);
  });

  test('Trap 12: a history that ends with the model is refused by Gemini (crewAI#6973)', () => {
    expect(sent(chatToGemini, chat({ role: 'assistant', content: 'So' })).contents).toMatchObject([
      {},
      {},
      { role: 'user' },
    ]);
  });

  test('Trap 13: calls in a history without tools are refused by Bedrock, and so stand there as text (pentagi#196)', () => {
    const [called, result] = loop('call_1');
    for (const more of [{}, { tools: [{ type: 'function', function: { name: 'read' } }], tool_choice: 'none' }]) {
      const request = sent(chatToConverse, { ...chat(called, result), ...more });
      expect(JSON.stringify(request)).not.toMatch(/toolUse|toolResult|toolConfig/);
      expect(JSON.stringify(request.messages)).toContain('Called the tool read');
    }
    expect(lossesOf(chatToConverse, chat(called, result))).toContain('emulated messages[1].tool_calls[0]: as-text');
  });

  test('Trap 14: an empty result of a tool is no empty text for Bedrock either (hermes-agent#55092)', () => {
    const [called, result] = loop('call_1');
    const tools = [{ type: 'function', function: { name: 'read' } }];
    const request = sent(chatToConverse, { ...chat(called, { ...result, content: '' }), tools });
    expect(request.messages).toMatchObject([
      {},
      {},
      { content: [{ toolResult: { content: [{ text: '(no output)' }] } }] },
    ]);
  });

  test('Trap 14: an empty result of a tool is no empty text (hermes-agent#55092)', () => {
    const [called, result] = loop('a');
    const { messages } = sent(chatToClaude, chat(called, { ...result, content: '' })) as {
      messages: { content: Json[] }[];
    };
    expect(messages[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'a', content: [] }]);
  });

  test('Trap 15: a system message among the others is neither lost nor moved (claude-code#77698)', () => {
    const asked = claude({ role: 'system', content: 'Be brief.' }, { role: 'assistant', content: 'x' }, user);
    expect(sent(claudeToChat, asked).messages).toMatchObject([user, { role: 'system', content: 'Be brief.' }, {}, {}]);
    const later = chat({ role: 'assistant', content: 'x' }, user, { role: 'system', content: 'Be brief.' });
    expect(sent({ ...chatToClaude, model: 'claude-opus-5' }, later).messages).toMatchObject([
      {},
      {},
      {},
      { role: 'system' },
    ]);
    expect(JSON.stringify(sent(chatToClaude, later).messages)).toContain(
      '<system-reminder>\\nBe brief.\\n</system-reminder>',
    );
  });

  test('Trap 16: the block that Claude Code writes for billing changes each turn (claude-code-router#1220)', () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=1;' },
      { type: 'text', text: 'Real.' },
    ];
    expect(sent(claudeToChat, { ...claude(), system }).messages).toMatchObject([
      { role: 'system', content: 'Real.' },
      {},
    ]);
  });

  test('Trap 17: more than four cache marks are refused (sub2api#176)', () => {
    const body = translate(chatToClaude, chat(...loop('a'), ...loop('b'), ...loop('c'))).body.toString();
    expect(body.match(/cache_control/g)).toHaveLength(1);
  });

  test('Trap 18: calls stand in tool_calls and not in the content too (langchainjs#9972)', () => {
    const asked = claude({ role: 'assistant', content: [toolUse('a')] }, { role: 'user', content: [toolResult('a')] });
    expect(sent(claudeToChat, asked).messages).toMatchObject([{}, { content: null, tool_calls: [{ id: 'a' }] }, {}]);
  });

  test('Trap 19: old thinking is not said aloud (litellm#26927)', () => {
    const content = [
      { type: 'thinking', thinking: 'Secret plan', signature: 'Ev==' },
      { type: 'text', text: 'x' },
    ];
    const asked = claude({ role: 'assistant', content }, user);
    for (const way of [claudeToResponses, claudeToChat])
      expect(JSON.stringify(sent(way, asked))).not.toContain('Secret');
  });

  test('Traps 20 to 23: pictures, lists of content and results with pictures all arrive, in their order (claude-code-router#1678)', () => {
    const source = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
    const asked = {
      ...claude(
        { role: 'assistant', content: [toolUse('a')] },
        {
          role: 'user',
          content: [
            toolResult('a', [{ type: 'text', text: 'T' }, source('IN')]),
            { type: 'text', text: '1' },
            source('OUT'),
            { type: 'text', text: '2' },
          ],
        },
      ),
    };
    const body = JSON.stringify(sent(claudeToChat, asked).messages);
    expect(body.indexOf('base64,IN')).toBeGreaterThan(body.indexOf('"T"'));
    expect(sent(claudeToChat, asked).messages).toMatchObject([
      {},
      {},
      {},
      {},
      { content: [{ text: '1' }, { type: 'image_url' }, { text: '2' }] },
    ]);
  });
});
