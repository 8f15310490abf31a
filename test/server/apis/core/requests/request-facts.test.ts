/** What a request says is read in one place for each fact, from fields that the body's reader collects. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { converse } from '../../../../../server/apis/bedrock/converse.ts';
import { runnerOf, runsNothingAtProvider } from '../../../../../server/apis/core/requests/tool-runners.ts';
import { turnStepOf } from '../../../../../server/apis/core/requests/turn-step.ts';
import type { RequestView, Wire } from '../../../../../server/apis/core/wire.ts';
import { Losses } from '../../../../../server/apis/neutral/losses.ts';
import { requestFields, servedApis } from '../../../../../server/apis/registry.ts';
import { wireTranslations } from '../../../../../server/apis/translation/translation-registry.ts';
import { JsonBody } from '../../../../../server/http/body/json-body.ts';

const wires = [...new Set([...servedApis.flatMap(({ routes }) => routes.map(({ wire }) => wire)), converse])];
const wireOf = (name: string) => wires.find((wire) => wire.name === name) as Wire;
const bodyOf = (body: object) => new JsonBody(Buffer.from(JSON.stringify(body)));
const messages = [{ role: 'user', content: 'x' }];
const unbounded = { outputTokens: null, contextTokens: null };

/** Has whatever is asked of it, and notes what that was. */
function spy(value: unknown) {
  const asked = new Set<string>();
  const bytes = Buffer.from(JSON.stringify(value ?? null));
  const note = (name: string) => {
    asked.add(name);
    return true;
  };
  const view: RequestView<string> = {
    field: (name) => note(name) && value,
    raw: (name) => (note(name) && value !== undefined ? { bytes, items: 1 } : null),
  };
  return { asked, body: { ...view, size: 100, captured: Buffer.from('{}') } };
}

test.each(wires.map((wire) => [wire.name, wire] as const))('%s reads only fields that it declares', (_name, wire) => {
  const { request, usage } = wire;
  for (const value of [undefined, 1, 'text', { id: 'a' }, [{}]]) {
    const { asked, body } = spy(value);
    for (const read of Object.values(request)) if (typeof read === 'function') read(body as never);
    usage.likely(body);
    usage.worst(body, unbounded);
    usage.hints(body, 1);
    expect([...asked].filter((name) => !request.fields.includes(name))).toEqual([]);
  }
  expect(request.fields.filter((name) => !requestFields.includes(name))).toEqual([]);
});

test('outside the APIs, nobody reads a field of a body by its name', () => {
  const files = readdirSync('server', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const elsewhere = files.filter((path) => !path.startsWith('apis/'));
  const reads = /\bbody\??\.(?:field|raw)\(/;
  expect(elsewhere.filter((path) => reads.test(readFileSync(`server/${path}`, 'utf8')))).toEqual([]);
});

describe('a stream is asked for', () => {
  const conversations = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;
  const asked = { model: 'm', max_tokens: 5, messages, input: 'x' };
  const isStream = (name: (typeof conversations)[number], stream: unknown) =>
    wireTranslations[name].parseRequest({ ...asked, stream }, new Losses()).stream;

  test.each([true, 1, '1', 'true', 'True', 'yes', 'on'])('by %j, in every API and in translation', (stream) => {
    expect(bodyOf({ ...asked, stream }).fields.stream).toBe(true);
    for (const name of conversations) expect(isStream(name, stream), name).toBe(true);
  });

  test.each([false, 0, 'false', 'off', null])('not by %j', (stream) => {
    expect(bodyOf({ ...asked, stream }).fields.stream).toBe(false);
    for (const name of conversations) expect(isStream(name, stream), name).toBe(false);
  });

  test('and what no server understands is refused where it is translated', () => {
    expect(bodyOf({ ...asked, stream: 'perhaps' }).fields.stream).toBe(false);
    for (const name of conversations) expect(() => isStream(name, 'perhaps'), name).toThrow('stream');
  });
});

describe('what may be billed is read once', () => {
  const gemini = wireOf('gemini-generate');
  const limits = { candidateCount: 3, maxOutputTokens: 10 };
  const spellings: object[] = [
    { generationConfig: limits },
    { generation_config: limits },
    { generationConfig: { candidate_count: 3, max_output_tokens: 10 } },
    { generation_config: { candidate_count: '3', max_output_tokens: '10' } },
  ];
  test.each(spellings.map((each) => [JSON.stringify(each), each] as const))('of Gemini: %s', (_name, more) => {
    const body = bodyOf({ contents: [], ...more });
    expect(gemini.request.answersPaid(body)).toBe(3);
    expect(gemini.usage.likely(body).outputTokens).toBe(30);
    expect(gemini.usage.worst(body, unbounded).outputTokens).toBe(30);
  });

  test.each([{ generationConfig: { temperature: 0 } }, { generation_config: { temperature: 0 } }])(
    'and so is its temperature: %j',
    (body) => {
      expect(gemini.request.temperatureOf(body)).toBe(0);
    },
  );

  test('a request for one image of Imagen is one for one', () => {
    const imagen = wireOf('gemini-predict');
    const one = bodyOf({ instances: [{ prompt: 'x' }], parameters: { sampleCount: 1 } });
    expect([imagen.usage.likely(one), imagen.usage.hints(one, 0)]).toEqual([{ images: 1 }, { images: 1 }]);
    expect(imagen.usage.worst(bodyOf({ instances: [] }), unbounded)).toEqual({ images: 4 });
  });

  test('Converse’s limit reaches its reader', () => {
    const body = bodyOf({ messages: [], inferenceConfig: { maxTokens: 7 } });
    expect(converse.usage.worst(body, unbounded).outputTokens).toBe(7);
  });

  test.each([
    ['openai-chat', { messages, max_tokens: 7, max_output_tokens: 9_000 }],
    ['openai-chat', { messages, max_completion_tokens: 7, max_tokens: 3 }],
    ['openai-chat', { messages, max_completion_tokens: 3, max_tokens: 7 }],
    ['openai-responses', { input: 'x', max_output_tokens: 7, max_tokens: 9_000 }],
    ['anthropic-messages', { messages, max_tokens: 7 }],
  ] as const)('%s reserves the limit that it sends on: %j', (name, limits) => {
    const body = { model: 'm', ...limits };
    expect(wireOf(name).usage.worst(bodyOf(body), unbounded).outputTokens).toBe(7);
    expect(wireTranslations[name].parseRequest(body, new Losses()).maxOutputTokens).toBe(7);
  });

  test('a body of Responses that came to the chat path is limited as one', () => {
    const body = bodyOf({ input: 'x', max_output_tokens: 7 });
    expect(wireOf('openai-chat').usage.worst(body, unbounded).outputTokens).toBe(7);
  });

  test('of two and a half answers or images, two are counted everywhere', () => {
    const body = bodyOf({ model: 'm', messages: [], prompt: 'x', n: 2.5 });
    for (const name of ['openai-chat', 'openai-completions', 'openai-images']) {
      const { request } = wireOf(name);
      expect([request.answersAsked(body), request.answersPaid(body)], name).toEqual([2, 2]);
    }
    expect(wireOf('openai-images').usage.hints(body, 0).images).toBe(2);
    expect(wireOf('openai-images').usage.likely(body).images).toBe(2);
  });
});

describe('tools are run', () => {
  test.each([
    { type: 'function', function: { name: 'f' } },
    { type: 'custom', name: 'c' },
    { type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'f' }] },
    { type: 'local_shell' },
    { type: 'apply_patch' },
    { type: 'shell', environment: { type: 'local' } },
    { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'mac' },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    { type: 'memory_20250818', name: 'memory' },
    { name: 'f', input_schema: {} },
    { functionDeclarations: [] },
    { function_declarations: [] },
  ])('by the client: %j', (tool) => {
    expect(runnerOf(tool)).toBe('client');
    expect(runsNothingAtProvider({ tools: [tool] })).toBe(true);
  });

  test.each([
    { type: 'web_search' },
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'namespace', name: 'mixed', tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] },
    { type: 'namespace', name: 'unknown' },
    { type: 'shell', environment: { type: 'container_auto' } },
    { type: 'shell' },
    { type: 'code_execution_20250825', name: 'code_execution' },
    { type: 'of_tomorrow' },
    { googleSearch: {} },
    'a text',
  ])('by the provider, or perhaps by it: %j', (tool) => {
    expect(runnerOf(tool)).toBe('provider');
    expect(runsNothingAtProvider({ tools: [tool] })).toBe(false);
  });

  const parsed = (name: 'anthropic-messages' | 'openai-responses', tools: object[]) => {
    const losses = new Losses();
    const body = { model: 'm', max_tokens: 5, messages, input: 'x', tools };
    return { tools: wireTranslations[name].parseRequest(body, losses).tools, losses: losses.list };
  };

  test('Claude’s tools that the client runs are offered to other models, with what they take', () => {
    const known = ['bash_20250124', 'text_editor_20250728', 'memory_20250818', 'computer_20250124'];
    const { tools, losses } = parsed(
      'anthropic-messages',
      known.map((type) => ({ type, name: type })),
    );
    expect(tools.map(({ name }) => name)).toEqual(known);
    expect(tools.map(({ schema }) => Object.keys(schema?.properties as object)[0])).toEqual([
      ...['command', 'command', 'command', 'action'],
    ]);
    expect(losses.filter(({ field }) => /^tools\[\d\]$/.test(field)).map(({ code }) => code)).toEqual(
      known.map(() => 'as-function'),
    );
  });

  test('by whom it says of OpenAI’s tools', () => {
    const told = (tool: object) =>
      parsed('openai-responses', [tool]).losses.find(({ field }) => field === 'tools[0]')?.code;
    expect(told({ type: 'local_shell' })).toBe('as-function');
    expect(told({ type: 'apply_patch' })).toBe('as-function');
    expect(told({ type: 'web_search' })).toBe('provider-tool');
  });
});

describe('a turn begins', () => {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) } };

  test('with a message of Gemini that does not say whose it is', () => {
    expect(turnStepOf(bodyOf({ contents: [{ parts: [{ text: 'Hello' }] }] }))).toBe('prompt');
    expect(turnStepOf(bodyOf({ contents: [{ parts: [{ functionResponse: {} }] }] }))).toBe('tools');
    expect(turnStepOf(bodyOf({ messages: [{ content: 'Hello' }] }))).toBeNull();
  });

  test.each([
    ['its role first', { role: 'user', content: [picture, { type: 'text', text: 'What is it?' }] }],
    ['its role last', { content: [picture, { type: 'text', text: 'What is it?' }], role: 'user' }],
    ['no role', { parts: [{ inlineData: { data: 'A'.repeat(400_000) } }] }],
  ])('with a pasted picture, %s', (_name, message) => {
    const before = Array.from({ length: 50 }, () => ({ role: 'assistant', content: 'x' }));
    const list = 'parts' in message ? 'contents' : 'messages';
    expect(turnStepOf(bodyOf({ [list]: [...before, message] }))).toBe('prompt');
  });

  test('not with a picture that a tool has returned', () => {
    const result = { content: [picture], tool_use_id: 't', type: 'tool_result' };
    expect(turnStepOf(bodyOf({ messages: [{ role: 'user', content: [result] }] }))).toBe('tools');
    expect(turnStepOf(bodyOf({ messages: [{ content: [result], role: 'user' }] }))).toBe('tools');
    const output = { type: 'function_call_output', call_id: 'c', output: 'A'.repeat(400_000) };
    expect(turnStepOf(bodyOf({ input: [output] }))).toBe('tools');
  });
});
