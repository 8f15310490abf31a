/** What went wrong in other gateways, each with a public report: `owner/repository#number`. */
import { describe, expect, test } from 'vitest';
import { estimateInputTokens } from '../../../server/translate/estimate-input.ts';
import { neutralError } from '../../../server/translate/neutral-error.ts';
import { anthropicErrorStatus, writeAnthropicError } from '../../../server/wire/anthropic/write-error.ts';
import { writeGeminiError } from '../../../server/wire/gemini/write-error.ts';
import { errorIn } from '../../../server/wire/upstream-error.ts';
import {
  dataOf,
  everySplit,
  type Json,
  lossesOf,
  moment,
  sent,
  streamed,
  streamOf,
  targetOf,
  translate,
  translatorOf,
  type Way,
} from './translating.ts';

const chatToClaude: Way = { from: 'openai-chat', to: 'anthropic-messages', model: 'claude-opus-4-6' };
const claudeToChat: Way = { from: 'anthropic-messages', to: 'openai-chat', model: 'llama-3.3-70b' };
const claudeToResponses: Way = { from: 'anthropic-messages', to: 'openai-responses', model: 'gpt-5.4' };
const chatToGemini: Way = { from: 'openai-chat', to: 'gemini-generate', model: 'gemini-3-pro' };
const chatToConverse: Way = { from: 'openai-chat', to: 'bedrock-converse', model: 'openai.gpt-oss-120b-1:0' };
const responsesToGemini: Way = { ...chatToGemini, from: 'openai-responses' };
const responsesToChat: Way = { from: 'openai-responses', to: 'openai-chat', model: 'llama-3.3-70b' };

const user = { role: 'user', content: 'Hello' };
const toolUse = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} });
const toolResult = (id: string, content: unknown = 'A') => ({ type: 'tool_result', tool_use_id: id, content });
const claude = (...messages: Json[]): Json => ({ model: 'm', max_tokens: 9, messages: [user, ...messages] });
const chat = (...messages: Json[]): Json => ({ model: 'm', messages: [user, ...messages] });
const call = (id: string, name = 'read') => ({ id, type: 'function', function: { name, arguments: '{}' } });
const loop = (id: string, name = 'read'): [Json, Json] => [
  { role: 'assistant', content: null, tool_calls: [call(id, name)] },
  { role: 'tool', tool_call_id: id, content: 'A' },
];

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
      properties: { const: { const: 1 }, list: { type: 'array' } },
      additionalProperties: false,
    };
    const tools = [{ type: 'function', function: { name: 'read', parameters: schema } }];
    expect(sent(chatToGemini, { ...chat(), tools }).tools).toEqual([
      { functionDeclarations: [{ name: 'read', parametersJsonSchema: schema }] },
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

describe('thinking', () => {
  test('Trap 24: calls whose thinking the client has lost are not answered with thinking on (litellm#15601)', () => {
    const asked = { ...chat(...loop('a')), reasoning_effort: 'high' };
    const way = { ...chatToClaude, model: 'claude-sonnet-4-5' };
    expect(sent(way, asked)).not.toHaveProperty('thinking');
    expect(lossesOf(way, asked)).toEqual(['emulated reasoning_effort: reasoning-off']);
  });

  test('Traps 25 to 27: a signature of elsewhere goes with all of its block (opencode#25005)', () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'bare' }];
    const asked = chat({ role: 'assistant', content: 'x', reasoning_details: details }, user);
    expect(sent(chatToClaude, asked).messages).toMatchObject([{}, { content: [{ type: 'text' }] }, {}]);
  });

  test('Trap 28: the second request after a refused signature is another one (hermes-agent#24401)', () => {
    const request = translate(chatToClaude, chat());
    const message = {
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'Ev==' },
        { type: 'text', text: 'x' },
      ],
    };
    const answer = request.whole(Buffer.from(JSON.stringify(message)), moment);
    const history = chat(answer?.ok ? JSON.parse(answer.body.toString()).choices[0].message : {}, user);
    const translator = translatorOf('openai-chat', 'anthropic-messages');
    const asked = translator.read(Buffer.from(JSON.stringify(history)));
    const target = targetOf(chatToClaude.model);
    expect(translator.request(asked, target).body.toString()).toContain('Ev==');
    expect(translator.request(asked, { ...target, withoutReasoning: true }).body.toString()).not.toContain('Ev==');
  });

  const geminiTurn = (parts: Json[]) => {
    const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    const whole = translate(chatToGemini, chat()).whole(Buffer.from(JSON.stringify(answer)), moment);
    return (whole?.ok ? JSON.parse(whole.body.toString()).choices[0].message : {}) as Json & { tool_calls?: Json[] };
  };

  test('Trap 29: a signature of Gemini 3 comes back with its call at the second turn (securo#884)', () => {
    const message = geminiTurn([{ functionCall: { name: 'read', args: {} }, thoughtSignature: 'c2ln' }]);
    const result = { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id, content: 'A' };
    const { contents } = sent(chatToGemini, chat(message, result)) as { contents: { parts: Json[] }[] };
    expect(contents[1]?.parts).toEqual([{ functionCall: { name: 'read', args: {} }, thoughtSignature: 'c2ln' }]);
  });

  test('Trap 31: a signature that stands beside a text comes back too, whatever its key is called (adk-python#5712)', () => {
    const message = geminiTurn([
      { text: 'Hm.', thought: true },
      { text: 'I look.', thoughtSignature: 'c2ln' },
    ]);
    const { contents } = sent(chatToGemini, chat(message, user)) as { contents: { parts: Json[] }[] };
    expect(contents[1]?.parts).toEqual([{ text: 'I look.', thoughtSignature: 'c2ln' }]);
  });

  test('Trap 30: a signature of another provider is no thoughtSignature (pi#654)', () => {
    const [called, result] = loop('a');
    const signed = {
      ...called,
      tool_calls: [{ ...call('a'), extra_content: { google: { thought_signature: 'bare' } } }],
    };
    expect(JSON.stringify(sent(chatToGemini, chat(signed, result)))).toContain('skip_thought_signature_validator');
  });

  test.each(['deepseek-v4', 'moonshotai/kimi-k3'])(
    'Trap 32: the reasoning of calls goes back to %s (opencode#24722)',
    (model) => {
      const content = [{ type: 'thinking', thinking: 'Hm.', signature: 'c2wx' }, toolUse('a')];
      const asked = claude({ role: 'assistant', content }, { role: 'user', content: [toolResult('a')] });
      expect(sent({ ...claudeToChat, model }, asked).messages).toMatchObject([{}, { reasoning_content: 'Hm.' }, {}]);
    },
  );

  test('Trap 33: what is asked of thinking is told when it is dropped (litellm#8837)', () => {
    const asked = { ...claude(), thinking: { type: 'enabled', budget_tokens: 2000 } };
    expect(lossesOf(claudeToChat, asked)).toEqual(['dropped thinking: model-takes-none']);
  });
});

describe('streams', () => {
  const chunk = (delta: Json, finish: string | null = null) => ({
    id: 'c',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const piece = (parts: Json[], more: Json = {}) => ({ candidates: [{ content: { parts }, ...more }] });
  const inputTokens = (text: string) => {
    const request = translate(claudeToChat, { ...claude({ role: 'user', content: text }), stream: true });
    const [start] = dataOf(streamed(request, [streamOf([chunk({ content: 'x' })], false)])) as [
      { message: { usage: Json } },
    ];
    return Number(start.message.usage.input_tokens);
  };

  test('Traps 34 and 35: the first event tells of the input, and of more for more (sglang#20678)', () => {
    expect(inputTokens('x')).toBeGreaterThan(0);
    expect(inputTokens('x'.repeat(3000))).toBeGreaterThan(inputTokens('x') + 700);
  });

  test('Trap 36: usage that comes after the reason is read (claude-code-router#1422)', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    const stream = streamOf([chunk({ content: 'x' }), chunk({}, 'stop'), { choices: [], usage }, '[DONE]'], false);
    const told = dataOf(streamed(translate(claudeToChat, claude()), [stream])) as Json[];
    expect(told.at(-2)?.usage).toMatchObject({ input_tokens: 7, output_tokens: 3 });
  });

  test('Trap 37: a response that failed is no end_turn, and tells of its context in words that are known (claudex#10)', () => {
    const error = {
      code: 'context_length_exceeded',
      message: "This model's maximum context length is 100 tokens. However, your messages resulted in 200 tokens.",
    };
    const told = streamed(translate(claudeToResponses, claude()), [
      streamOf([{ type: 'response.failed', response: { error } }], true),
    ]);
    expect(dataOf(told)).toEqual([
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 200 tokens > 100 maximum' },
      },
    ]);
  });

  test('Trap 38: a piece of bytes is no event: it is all the same where they are cut (litellm#30224)', () => {
    const stream = streamOf([chunk({ content: 'Grüße' }), chunk({}, 'stop'), '[DONE]'], false);
    const request = translate(claudeToChat, claude());
    const whole = streamed(request, [stream]);
    for (const pieces of everySplit(stream)) expect(streamed(request, pieces)).toBe(whole);
  });

  test('Trap 39: a Gemini that ends without a reason has not ended (freellmapi#1288)', () => {
    const told = streamed(translate(chatToGemini, chat()), [streamOf([piece([{ text: 'So' }])], false)]);
    expect(told).toContain('So');
    expect(told).not.toContain('[DONE]');
  });

  test('Trap 40: but for one that has thought alone, and counted it (CLIProxyAPI#5226)', () => {
    const usageMetadata = { promptTokenCount: 5, thoughtsTokenCount: 9 };
    const stream = streamOf([piece([{ text: 'Hm.', thought: true }]), { usageMetadata }], false);
    expect(streamed(translate(chatToGemini, chat()), [stream])).toContain('[DONE]');
  });

  test('Trap 41: an older Gemini says STOP in each chunk, and goes on (one-api#1477)', () => {
    const stop = { finishReason: 'STOP' };
    const stream = streamOf([piece([{ text: 'So ' }], stop), piece([{ text: 'it is.' }], stop)], false);
    const told = dataOf(streamed(translate(chatToGemini, chat()), [stream])) as Json[];
    const said = told.flatMap(({ choices }) => (choices as { delta: Json }[] | undefined) ?? []);
    expect(said.map(({ delta }) => delta.content ?? '').join('')).toBe('So it is.');
    expect(told.at(-1)).toBe('[DONE]');
  });

  test('Trap 42: an error that comes first is an error, and no empty answer (gemini-balance#347)', () => {
    const error = { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' };
    const told = dataOf(streamed(translate(chatToGemini, chat()), [streamOf([{ error }], false)]));
    expect(told).toEqual([
      { error: { message: 'Overloaded', type: 'server_error', param: null, code: 'server_overloaded' } },
    ]);
  });

  test('Trap 43: a whole answer to the verb of streams becomes a stream (nyro#182)', () => {
    const whole = { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] };
    const told = translate(chatToGemini, { ...chat(), stream: true }).wholeAsEvents(
      Buffer.from(JSON.stringify(whole)),
      moment,
    );
    expect(dataOf(told?.toString() ?? '').at(-1)).toBe('[DONE]');
  });

  test('Trap 44: a ping breaks nothing (vercel/ai#383)', () => {
    const told = translate(chatToClaude, chat())
      .events(moment)
      .push({ name: 'ping', data: '{}', value: { type: 'ping' } });
    expect(told).toHaveLength(0);
  });
});

describe('counts, tools and bodies', () => {
  test('Trap 50: a count has system and tools in it, and errs upward (copilot-api#134)', () => {
    const translator = translatorOf('anthropic-messages', 'openai-chat');
    const read = (more: Json) => translator.read(Buffer.from(JSON.stringify({ ...claude(), ...more }))).conversation;
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
    const plain = estimateInputTokens(read({}));
    // 1,001 tokens by OpenAI's o200k.
    expect(estimateInputTokens(read({ system: text })) - plain).toBeGreaterThan(1001);
    const tools = [{ name: 'read', description: text, input_schema: { type: 'object' } }];
    expect(estimateInputTokens(read({ tools })) - plain).toBeGreaterThan(1001);
  });

  test('Trap 54: apply_patch comes back as a custom tool’s call (CLIProxyAPI#5753)', () => {
    const asked = { model: 'm', input: 'x', tools: [{ type: 'custom', name: 'apply_patch' }] };
    const message = {
      tool_calls: [{ id: 'a', function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' } }],
    };
    const answer = translate(responsesToChat, asked).whole(
      Buffer.from(JSON.stringify({ choices: [{ message }] })),
      moment,
    );
    expect(answer?.ok && JSON.parse(answer.body.toString()).output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin' },
    ]);
  });

  test('Trap 55: a body of Responses on the path of chats is understood, and answered as a chat (codex-lb#833)', () => {
    const asked = {
      model: 'm',
      input: [user],
      instructions: 'Be brief.',
      stream: true,
      stream_options: { include_usage: true },
    };
    const request = translate(chatToClaude, asked);
    expect(JSON.parse(request.body.toString())).toMatchObject({
      system: [{ text: 'Be brief.' }],
      messages: [{ role: 'user' }],
    });
    expect(
      streamed(request, [streamOf([{ type: 'message_start', message: {} }, { type: 'message_stop' }], true)]),
    ).toContain('chat.completion.chunk');
  });
});

describe('an error', () => {
  test.each<[unknown, string, string, number]>([
    [
      { error: { message: 'No key', type: 'invalid_request_error', code: 'invalid_api_key' } },
      'authentication_error',
      'INVALID_ARGUMENT',
      401,
    ],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }, 'overloaded_error', 'UNAVAILABLE', 529],
    [
      { error: { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED' } },
      'rate_limit_error',
      'RESOURCE_EXHAUSTED',
      429,
    ],
    [
      [{ error: { code: 400, message: 'Bad', status: 'INVALID_ARGUMENT' } }],
      'invalid_request_error',
      'INVALID_ARGUMENT',
      400,
    ],
    [
      { error: { message: 'Gone', type: 'invalid_request_error', code: 'model_not_found' } },
      'not_found_error',
      'NOT_FOUND',
      404,
    ],
    [
      { error: { message: 'Spent', type: 'insufficient_quota', code: 'insufficient_quota' } },
      'billing_error',
      'RESOURCE_EXHAUSTED',
      402,
    ],
    [{ error: { message: 'Odd', type: 'constructor', code: 'constructor' } }, 'api_error', 'INTERNAL', 500],
    [null, 'api_error', 'INTERNAL', 500],
  ])('%j is told in the words of each API', (body, anthropic, google, status) => {
    const error = neutralError(errorIn(body));
    expect(JSON.parse(writeAnthropicError(error))).toMatchObject({ type: 'error', error: { type: anthropic } });
    expect(JSON.parse(writeGeminiError(error))).toMatchObject({ error: { status: google } });
    expect(anthropicErrorStatus(error)).toBe(status);
  });

  test.each([
    'prompt is too long: 200 tokens > 100 maximum',
    'input length and `max_tokens` exceed context limit: 150 + 50 > 100',
    'The input token count (200) exceeds the maximum number of tokens allowed (100).',
    "This model's maximum context length is 100 tokens. However, you requested 200 tokens (150 in the messages).",
  ])('of a context that is too long keeps both numbers: %s', (message) => {
    const error = neutralError(errorIn({ error: { message, type: 'invalid_request_error' } }));
    expect(error.code).toBe('context_length_exceeded');
    expect(writeAnthropicError(error)).toContain('prompt is too long: 200 tokens > 100 maximum');
    expect(writeGeminiError(error)).toContain(
      'input token count (200) exceeds the maximum number of tokens allowed (100)',
    );
  });

  test.each<[Way['from'], Way['to'], number, unknown, number, Json]>([
    [
      'openai-chat',
      'anthropic-messages',
      529,
      { error: { type: 'overloaded_error', message: 'Busy' } },
      503,
      { error: { code: 'server_overloaded' } },
    ],
    [
      'anthropic-messages',
      'openai-chat',
      503,
      { error: { message: 'Busy' } },
      503,
      { type: 'error', error: { type: 'api_error' } },
    ],
    [
      'anthropic-messages',
      'gemini-generate',
      503,
      { error: { status: 'UNAVAILABLE', message: 'Busy' } },
      529,
      { error: { type: 'overloaded_error' } },
    ],
    [
      'openai-responses',
      'gemini-generate',
      400,
      { error: { status: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.' } },
      401,
      { error: { code: 'invalid_api_key' } },
    ],
    [
      'gemini-generate',
      'openai-chat',
      401,
      { error: { code: 'invalid_api_key', message: 'No' } },
      400,
      { error: { status: 'INVALID_ARGUMENT', code: 400 } },
    ],
    ['gemini-generate', 'openai-chat', 500, '<html>', 500, { error: { status: 'INTERNAL', code: 500 } }],
  ])(
    'for a client of %s of %s with %i becomes one of its own API',
    (from, to, status, body, expectedStatus, expected) => {
      const told = translatorOf(from, to).error(status, Buffer.from(JSON.stringify(body)));
      expect(told.status).toBe(expectedStatus);
      expect(JSON.parse(told.body.toString())).toMatchObject(expected);
    },
  );

  test('that speaks of other numbers stays as it is', () => {
    const said = { message: 'max_tokens: 9000 > 4096 allowed', type: 'invalid_request_error' };
    const error = neutralError(errorIn({ error: said }));
    expect(writeAnthropicError(error)).toContain('max_tokens: 9000');
  });
});
