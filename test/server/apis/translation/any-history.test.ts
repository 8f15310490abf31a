/**
 * Histories that clients may leave behind: interrupted, repeated, empty. None breaks a translator or is refused because
 * of its form.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { tries } from '../../../support/sweep.ts';
import { complaintsOf } from './strict-upstreams.ts';
import { type Json, lossesOf, sent, type Way } from './translating.ts';

const text = fc.constantFrom('Hello', '', ' ', '漢字', 'a\n', '</system-reminder>');
const thought = fc.constantFrom('Hm.', '');
const id = fc.constantFrom('call_1', 'call_2', 'functions.bash:0', 'toolu_01 x', 'é', 'x'.repeat(80));
const name = fc.constantFrom('read', 'write', 'mcp.server/tool', 'n'.repeat(100));
const given = fc.constantFrom('{}', '', '{"a":1}', '{"a"', '[1]', '"x"', '{"n":12345678901234567890}');
const picture = 'data:image/png;base64,AAAA';

const chatCall = fc.record({ id, type: fc.constant('function'), function: fc.record({ name, arguments: given }) });
const chatPart = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.constant({ type: 'image_url', image_url: { url: picture } }),
);
const chatMessage = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'system', 'developer'), content: text }),
  fc.record({ role: fc.constant('user'), content: fc.array(chatPart, { maxLength: 3 }) }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.option(text),
    tool_calls: fc.array(chatCall, { maxLength: 3 }),
  }),
  fc.record({ role: fc.constant('assistant'), content: text, reasoning_content: thought }),
  fc.record({ role: fc.constant('tool'), tool_call_id: id, content: text }),
);

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.constant(image),
  fc.record({ type: fc.constant('thinking'), thinking: thought, signature: fc.constantFrom('', 'Ev==', 'c2wxAHA=') }),
  fc.record({ type: fc.constant('redacted_thinking'), data: thought }),
  fc.record({ type: fc.constant('tool_use'), id, name, input: fc.constantFrom({}, { a: [1] }) }),
  fc.record({
    type: fc.constant('tool_result'),
    tool_use_id: id,
    content: fc.oneof(text, fc.constant([image])),
    is_error: fc.boolean(),
  }),
  fc.constant({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
);
const messageOf = (role: string, allowed: (type: unknown) => boolean) =>
  fc.array(block, { maxLength: 4 }).map((blocks) => ({ role, content: blocks.filter(({ type }) => allowed(type)) }));
const userBlocks = ['text', 'image', 'tool_result'];
const message = fc.oneof(
  messageOf('user', (type) => userBlocks.includes(String(type))),
  messageOf('assistant', (type) => type !== 'tool_result'),
  fc.record({ role: fc.constant('system'), content: text }),
);

const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'developer', 'system'), content: text }),
  fc.record({ type: fc.constant('function_call'), call_id: id, name, arguments: given }),
  fc.record({ type: fc.constant('custom_tool_call'), call_id: id, name, input: text }),
  fc.record({ type: fc.constantFrom('function_call_output', 'custom_tool_call_output'), call_id: id, output: text }),
  fc.record({
    type: fc.constant('reasoning'),
    summary: fc.constant([]),
    encrypted_content: fc.constantFrom('gAbcd', ''),
  }),
  fc.constantFrom<Json>({ type: 'web_search_call', id: 'ws' }, { type: 'compaction', encrypted_content: 'x' }),
);

const part = fc.oneof<fc.Arbitrary<Json>[]>(
  fc.record({ text }),
  fc.record({ text: thought, thought: fc.constant(true) }),
  fc.record({
    functionCall: fc.record({ name, args: fc.constantFrom({}, { a: 1 }) }),
    thoughtSignature: fc.constantFrom('c2ln', 'c2wxAHA='),
  }),
  fc.constant({ inlineData: { mimeType: 'image/png', data: 'AAAA' } }),
  fc.record({ functionResponse: fc.record({ name, response: fc.constantFrom({}, { output: 'x' }, { error: 'y' }) }) }),
);
const content = fc.record({ role: fc.constantFrom('user', 'model'), parts: fc.array(part, { maxLength: 4 }) });

const tools = fc.uniqueArray(name, { maxLength: 3 });

const bodies: Record<WireName, fc.Arbitrary<Json>> = {
  'openai-chat': fc.record({
    model: fc.constant('m'),
    messages: fc.array(chatMessage, { minLength: 1, maxLength: 8 }),
    tools: tools.map((names) => names.map((each) => ({ type: 'function', function: { name: each } }))),
  }),
  'anthropic-messages': fc.record({
    model: fc.constant('m'),
    max_tokens: fc.constant(100),
    messages: fc.array(message, { minLength: 1, maxLength: 8 }),
    tools: tools.map((names) => names.map((each) => ({ name: each, input_schema: { anyOf: [{ type: 'object' }] } }))),
  }),
  'openai-responses': fc.record({
    model: fc.constant('m'),
    input: fc.array(item, { minLength: 1, maxLength: 8 }),
    tools: tools.map((names) => names.map((each) => ({ type: 'custom', name: each }))),
  }),
  'gemini-generate': fc.record({
    model: fc.constant('m'),
    contents: fc.array(content, { minLength: 1, maxLength: 8 }),
    tools: tools.map((names) => [{ functionDeclarations: names.map((each) => ({ name: each })) }]),
  }),
};

const models: Record<UpstreamWireName, string> = {
  'openai-chat': 'llama-3.3-70b',
  'openai-responses': 'gpt-oss-120b',
  'anthropic-messages': 'claude-opus-4-6',
  'gemini-generate': 'gemini-3-pro',
  'bedrock-converse': 'us.meta.llama3-3-70b-instruct-v1:0',
};

const wires = Object.keys(bodies) as WireName[];
const upstreams = Object.keys(models) as UpstreamWireName[];
const ways = wires.flatMap((from) =>
  upstreams
    .filter((to) => to !== from)
    .map((to): [string, Way] => [`${from} to ${to}`, { from, to, model: models[to] }]),
);

describe.each(ways)('from %s', (_name, way) => {
  test('any history is sent whole in a form that is taken, or refused by the name of a field', () => {
    fc.assert(
      fc.property(bodies[way.from], (body) => {
        let request: Json;
        try {
          request = sent(way, body);
        } catch (error) {
          if (!(error instanceof GatewayError) || error.param === null) throw error;
          return;
        }
        expect(complaintsOf(way.to, request)).toEqual([]);
        for (const said of ['漢字', 'AAAA']) expect(countOf(request, said), said).toBe(countOf(body, said));
      }),
      { numRuns: tries(1_000), seed: 7 },
    );
  });
});

test('a message of very many parts is as good as one of few', () => {
  const count = 150_000;
  const content = Array.from({ length: count }, () => ({ type: 'text', text: '漢字' }));
  const system = { role: 'system', content: [{ type: 'text', text: 'x' }] };
  for (const to of upstreams.filter((wire) => wire !== 'openai-chat')) {
    const way: Way = { from: 'openai-chat', to, model: models[to] };
    for (const role of ['user', 'system', 'assistant']) {
      const messages = [system, { role, content }, { role: 'user', content: 'Hello' }];
      expect(countOf(sent(way, { model: 'm', messages }), '漢字'), `${role} to ${to}`).toBe(count);
    }
  }
});

test('a picture in a system message stands in a message after it', () => {
  const picture = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
  const input = [{ role: 'developer', content: [{ type: 'input_text', text: 'See:' }, picture] }];
  for (const to of upstreams.filter((wire) => wire !== 'openai-responses')) {
    const way: Way = { from: 'openai-responses', to, model: models[to] };
    for (const before of [[], [{ role: 'user', content: 'Hello' }]]) {
      expect(countOf(sent(way, { model: 'm', input: [...before, ...input] }), 'AAAA'), to).toBe(1);
    }
    expect(lossesOf(way, { model: 'm', input })).toContain('emulated input[0].content[1]: moved-media');
  }
});

function countOf(body: Json, said: string): number {
  return JSON.stringify(body).split(said).length - 1;
}
