/**
 * Tools that a client runs and that its API knows by their type: any model is offered them with their documented inputs, and
 * its calls come back in the form in which the client expects them.
 */
import Anthropic, { type APIError } from '@anthropic-ai/sdk';
import { type Content, Environment, type Part } from '@google/genai';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

/** The call that each upstream makes until it has seen a result. */
let call: { name: string; input: Json } = { name: '', input: {} };
const isReport = (body: Json) => JSON.stringify(body).includes('the-result');

const upstreams = {
  chat: {
    model: 'gpt-x',
    config: { serves: ['chat'] },
    path: '/v1',
    secret: 'k',
    script: chat.strictChat((body, response) => {
      const made = chat.toolCall('call_1', call.name, call.input);
      const message = isReport(body) ? { content: 'Done.' } : { content: null, tool_calls: [made] };
      const reason = isReport(body) ? 'stop' : 'tool_calls';
      if (body.stream !== true) json(response, chat.completion(message, reason));
      else if (isReport(body)) chat.sendStream(response, chat.streamOf([{ content: 'Done.' }]));
      else chat.sendStream(response, chat.streamOf([{ tool_calls: [{ index: 0, ...made }] }], reason));
    }),
  },
  responses: {
    model: 'gpt-5.4',
    config: { serves: ['responses'] },
    path: '/v1',
    secret: 'k',
    script: responses.strictResponses((body, response) => {
      const made = responses.callWith('call_1', call.name, call.input);
      const whole = responses.responseWith([isReport(body) ? responses.messageWith('Done.') : made]);
      if (body.stream !== true) json(response, whole);
      else chat.sendStream(response, responses.streamOfResponse(whole));
    }),
  },
  anthropic: {
    model: 'claude-x',
    config: { dialect: 'anthropic' },
    path: '',
    secret: anthropic.anthropicKey,
    script: anthropic.strictAnthropic((body, response) => {
      const block = isReport(body) ? anthropic.text('Done.') : anthropic.toolUse('toolu_1', call.name, call.input);
      const reason = isReport(body) ? 'end_turn' : 'tool_use';
      if (body.stream === true) anthropic.sendStream(response, anthropic.streamOf([block], reason));
      else json(response, anthropic.message([block], reason));
    }),
  },
  gemini: {
    model: 'gemini-3-pro',
    config: { dialect: 'gemini' },
    path: '/v1beta',
    secret: gemini.geminiKey,
    script: gemini.strictGemini(({ verb, body }, response) => {
      const made = { functionCall: { name: call.name, args: call.input }, thoughtSignature: 'c2ln' };
      const answer = gemini.answered([isReport(body) ? { text: 'Done.' } : made]);
      if (verb === 'generateContent') json(response, answer);
      else gemini.sendEvents(response, [answer]);
    }),
  },
};
type Upstream = keyof typeof upstreams;
const models = Object.entries(upstreams).map(([id, { model }]) => [id as Upstream, model] as const);

let gateway: TestGateway;
let openai: OpenAI;
let claude: Anthropic;
const started: Partial<Record<Upstream, ScriptedUpstream>> = {};

beforeAll(async () => {
  const providers = [];
  const secrets: Record<string, string> = {};
  for (const [id, { model, config, script, path, secret }] of Object.entries(upstreams)) {
    const upstream = await startUpstream(script);
    started[id as Upstream] = upstream;
    providers.push(mainProvider(upstream.origin + path, { id, models: [model], ...config }));
    secrets[`provider/${id}/c1`] = secret;
  }
  gateway = await startGateway({ config: { providers }, secrets });
  openai = gateway.client;
  claude = claudeAt(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(started).map((upstream) => upstream.stop()));
});

const lastBody = (id: Upstream) => started[id]?.seen.at(-1)?.body.toString() ?? '';

const click = { type: 'click', button: 'left', x: 3, y: 4 };
const screen = { type: 'computer_use_preview', display_width: 800, display_height: 600, environment: 'browser' };
const operation = { type: 'update_file', path: 'a.txt', diff: '@@\n-a\n+b\n' };
const png = 'data:image/png;base64,iVBORw0KGgo=';

interface OwnTool {
  tool: Json;
  name: string;
  input: Json;
  /** What the client gets for the call. */
  item: Json;
  output: (callId: string, itemId: string) => Json;
}

const ownTools: OwnTool[] = [
  {
    tool: { type: 'shell', environment: { type: 'local' } },
    name: 'shell',
    input: { commands: ['ls', 'pwd'], timeout_ms: 1000 },
    item: {
      type: 'shell_call',
      action: { commands: ['ls', 'pwd'], timeout_ms: 1000, max_output_length: null },
      environment: { type: 'local' },
    },
    output: (callId) => ({
      type: 'shell_call_output',
      call_id: callId,
      max_output_length: null,
      output: [{ stdout: 'the-result', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    }),
  },
  {
    tool: { type: 'local_shell' },
    name: 'local_shell',
    input: { command: ['ls', '-l'], working_directory: '/tmp' },
    item: {
      type: 'local_shell_call',
      action: { type: 'exec', command: ['ls', '-l'], env: {}, working_directory: '/tmp' },
    },
    // The SDK's type has no `call_id`.
    output: (_, itemId) => ({ type: 'local_shell_call_output', id: itemId, output: 'the-result' }),
  },
  {
    tool: { type: 'apply_patch' },
    name: 'apply_patch',
    input: operation,
    item: { type: 'apply_patch_call', operation },
    output: (callId) => ({
      type: 'apply_patch_call_output',
      call_id: callId,
      status: 'failed',
      output: 'the-result: no such line',
    }),
  },
  {
    tool: screen,
    name: 'computer',
    input: click,
    item: { type: 'computer_call', action: click, pending_safety_checks: [] },
    output: (callId) => ({
      type: 'computer_call_output',
      call_id: callId,
      output: { type: 'computer_screenshot', image_url: png },
    }),
  },
  {
    tool: { type: 'computer' },
    name: 'computer',
    input: { actions: [click, { type: 'screenshot' }] },
    item: { type: 'computer_call', actions: [click, { type: 'screenshot' }], pending_safety_checks: [] },
    output: (callId) => ({
      type: 'computer_call_output',
      call_id: callId,
      output: { type: 'computer_screenshot', image_url: png },
    }),
  },
];

const own = { type: 'function', name: 'mine', parameters: { type: 'object', properties: {} }, strict: false };
type Create = OpenAI.Responses.ResponseCreateParamsNonStreaming;

async function respond(body: Json, stream: boolean): Promise<OpenAI.Responses.Response> {
  if (!stream) return openai.responses.create(body as unknown as Create);
  return openai.responses.stream(body as Parameters<typeof openai.responses.stream>[0]).finalResponse();
}

const cases = models
  .filter(([id]) => id !== 'responses')
  .flatMap(([id, model]) =>
    ownTools.flatMap((ownTool) =>
      [false, true].map((stream) => ({ id, model, stream, type: ownTool.tool.type, ...ownTool })),
    ),
  );

describe("OpenAI's tools that its client runs", () => {
  test.each(cases)(
    '$type at $id, streamed: $stream',
    async ({ id, model, stream, tool, name, input, item, output }) => {
      call = { name, input };
      const isPreview = tool.type === 'computer_use_preview';
      const choice = tool.type === 'computer' || isPreview ? {} : { tool_choice: { type: tool.type } };
      const asked = { model, tools: [tool, own], store: false, max_output_tokens: 1000, ...choice };
      const question = { role: 'user', content: 'Do it.' };
      const first = await respond({ ...asked, input: [question] }, stream);
      const offered = lastBody(id);
      expect(offered).toContain(`"${name}"`);
      for (const field of Object.keys(input)) expect(offered).toContain(`"${field}"`);
      if ('tool_choice' in choice) expect(offered).toMatch(/"tool_choice":\{[^}]*\}|"allowedFunctionNames"/);
      const [made] = first.output.filter(({ type }) => type !== 'reasoning') as unknown as Json[];
      expect(made).toMatchObject({ status: 'completed', ...item });
      expect(first.tools[0]).toEqual(tool);
      if (isPreview) expect(offered).toContain('800 × 600');

      const { call_id: callId, id: itemId } = made as { call_id: string; id: string };
      const more = name === 'computer' ? [{ role: 'user', content: 'Is that the-result?' }] : [];
      const history = [question, ...first.output, output(callId, itemId), ...more];
      const second = await respond({ ...asked, tool_choice: 'auto', input: history }, stream);
      expect(second.output_text).toBe('Done.');
      const sent = lastBody(id);
      expect(sent).toContain('the-result');
      expect(sent).not.toContain('cancelled');
      if (tool.type === 'apply_patch') expect(sent.toLowerCase()).toContain('error');
    },
  );

  const loose: [type: string, input: Json, told: Json][] = [
    ['shell', { commands: 'ls' }, { action: { commands: ['ls'] } }],
    ['local_shell', { command: 'ls' }, { action: { command: ['ls'] } }],
    ['apply_patch', { operation }, { operation }],
    ['computer', { actions: click }, { actions: [click] }],
  ];
  test.each(loose)('a call of %s that is nearly right comes back in the documented form', async (type, input, told) => {
    call = { name: type, input };
    for (const stream of [false, true]) {
      const asked = { model: 'gpt-x', input: 'Do it.', tools: [{ type }], store: false };
      expect((await respond(asked, stream)).output).toMatchObject([{ type: `${type}_call`, ...told }]);
    }
  });

  test.each([false, true])('a call that is no object is told as an error, streamed: %s', async (stream) => {
    call = { name: 'shell', input: 'not json' as unknown as Json };
    const asked = { model: 'gpt-x', input: 'Do it.', tools: [{ type: 'shell' }], store: false };
    await expect(respond(asked, stream)).rejects.toThrow('no whole JSON object');
  });
});

describe("Anthropic's tools that its client runs", () => {
  const tools = [
    { type: 'bash_20250124', name: 'bash', input: { command: 'ls' } },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', input: { command: 'view', path: '/a' } },
    { type: 'memory_20250818', name: 'memory', input: { command: 'view', path: '/memories' } },
    {
      type: 'computer_20250124',
      name: 'computer',
      input: { action: 'screenshot' },
      display_width_px: 800,
      display_height_px: 600,
    },
  ];
  const all = models
    .filter(([id]) => id !== 'anthropic')
    .flatMap(([id, model]) => tools.flatMap((tool) => [false, true].map((stream) => ({ id, model, stream, ...tool }))));

  test.each(all)('$type at $id, streamed: $stream', async ({ id, model, stream, input, ...tool }) => {
    call = { name: tool.name, input };
    const asked = { model, max_tokens: 100, tools: [tool] } as unknown as Anthropic.MessageCreateParamsNonStreaming;
    const ask = async (messages: Anthropic.MessageParam[], more: object = {}) => {
      const body = { ...asked, ...more, messages };
      return stream ? claude.messages.stream(body).finalMessage() : claude.messages.create(body);
    };
    const question = { role: 'user' as const, content: 'Do it.' };
    const first = await ask([question], { tool_choice: { type: 'tool', name: tool.name } });
    expect(first.stop_reason).toBe('tool_use');
    const used = first.content.find((block) => block.type === 'tool_use');
    expect(used).toMatchObject({ name: tool.name, input });
    const result = { type: 'tool_result' as const, tool_use_id: used?.id ?? '', content: 'the-result' };
    const second = await ask([
      question,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [result] },
    ]);
    expect(second.content).toMatchObject([{ type: 'text', text: 'Done.' }]);
    expect(lastBody(id)).toContain('the-result');
  });
});

describe('computer use of Gemini, which its client runs', () => {
  const calls = [
    { name: 'click_at', input: { x: 500, y: 20 } },
    { name: 'type_text_at', input: { x: 1, y: 2, text: 'a', press_enter: true } },
    { name: 'open_web_browser', input: {} },
  ];
  const all = models
    .filter(([id]) => id !== 'gemini')
    .flatMap(([id, model]) => calls.flatMap((made) => [false, true].map((stream) => ({ id, model, stream, ...made }))));

  test.each(all)('$name at $id, streamed: $stream', async ({ id, model, stream, name, input }) => {
    call = { name, input };
    const google = geminiAt(gateway);
    const computerUse = {
      environment: Environment.ENVIRONMENT_BROWSER,
      excludedPredefinedFunctions: ['drag_and_drop'],
    };
    const declared = {
      name: 'search',
      description: 'the client’s own search',
      parametersJsonSchema: { type: 'object' },
    };
    const config = { maxOutputTokens: 1000, tools: [{ computerUse }, { functionDeclarations: [declared] }] };
    const ask = async (contents: Content[]): Promise<Part[]> => {
      if (!stream)
        return (await google.models.generateContent({ model, contents, config })).candidates?.[0]?.content?.parts ?? [];
      const parts: Part[] = [];
      for await (const event of await google.models.generateContentStream({ model, contents, config }))
        parts.push(...(event.candidates?.[0]?.content?.parts ?? []));
      return parts;
    };
    const question = { role: 'user', parts: [{ text: 'Do it.' }] };
    const first = await ask([question]);
    const made = first.find(({ functionCall }) => functionCall)?.functionCall;
    expect(made).toMatchObject({ name, args: input });
    const offered = lastBody(id);
    for (const word of ['"navigate"', '"clear_before_typing"', 'the client’s own search'])
      expect(offered).toContain(word);
    expect(offered).not.toContain('drag_and_drop');
    expect(offered.match(/"name":"search"/g)).toHaveLength(1);

    const result = { name, id: made?.id ?? '', response: { url: 'the-result' } };
    const second = await ask([
      question,
      { role: 'model', parts: first },
      { role: 'user', parts: [{ functionResponse: result }] },
    ]);
    expect(second.map(({ text }) => text).join('')).toBe('Done.');
    expect(lastBody(id)).toContain('the-result');
  });
});

describe('a tool that only the provider runs', () => {
  const search = { type: 'web_search_20250305' as const, name: 'web_search' as const };
  const foreign = models.filter(([id]) => id !== 'anthropic');

  test.each(foreign)('and must be called is not answered from memory: %s', async (id, model) => {
    const before = started[id]?.seen.length;
    for (const tool_choice of [{ type: 'tool' as const, name: 'web_search' }, { type: 'any' as const }]) {
      const asked = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'News?' }] };
      const error = await claude.messages
        .create({ ...asked, tools: [search], tool_choice })
        .catch((thrown: unknown) => thrown as APIError);
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
      expect((error as APIError).message).toContain("'tool_choice' cannot be translated for this model");
    }
    expect(started[id]?.seen.length).toBe(before);
  });

  test('is left out and told of where the model may do without it', async () => {
    const request = { model: 'gpt-x', max_tokens: 100, messages: [{ role: 'user' as const, content: 'the-result' }] };
    const { data, response } = await claude.messages.create({ ...request, tools: [search] }).withResponse();
    expect(data.content).toMatchObject([{ text: 'Done.' }]);
    expect(response.headers.get('x-sluice-dropped')).toContain('tools[0];why=provider-tool');
  });
});
