/** What spans tell of a call beside its usage, on every wire, whole and streamed; and that each number has one type. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerFacts } from '../../../server/apis/core/usage/call-facts.ts';
import { chat } from '../../../server/apis/openai/chat.ts';
import { responses } from '../../../server/apis/openai/responses.ts';
import { ResponseExcerpt } from '../../../server/exchange/record/response-taps.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from '../../support/otlp-collector.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import {
  baseUrlOf,
  type ClientName,
  clientNames,
  clients,
  type DialectName,
  dialectNames,
  dialects,
  streamThatEnds,
  wholeThatEnds,
} from '../gateway/ends-of-answers.ts';

const limited = { temperature: 0, max_tokens: 99 };
const parameters: Record<ClientName, object> = {
  chat: limited,
  responses: { temperature: 0, max_output_tokens: 99 },
  messages: limited,
  gemini: { generationConfig: { temperature: 0, maxOutputTokens: 99 } },
};
const told: Record<DialectName, object> = {
  chat: { id: 'chatcmpl-1', model: 'gpt-x', finish_reasons: ['stop'] },
  responses: { id: 'resp_1', finish_reasons: ['completed'] },
  anthropic: { id: 'msg_01', model: 'claude-opus-5-5', finish_reasons: ['end_turn'] },
  gemini: { id: 'r1', model: 'gemini-3-pro', finish_reasons: ['STOP'] },
  bedrock: { finish_reasons: ['end_turn'] },
};

/** Those whose name begins so, by the rest of it. */
const named = ({ attributes }: CollectedSpan, beginning: string) =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      name.startsWith(beginning) ? [[name.slice(beginning.length), value]] : [],
    ),
  );
const requestOf = (span: CollectedSpan) => {
  const { temperature, max_tokens } = named(span, 'gen_ai.request.');
  return { temperature, max_tokens };
};
const responseOf = (span: CollectedSpan) => {
  const { time_to_first_chunk: _, ...rest } = named(span, 'gen_ai.response.');
  return rest;
};

describe.each(['http/protobuf', 'http/json'] as const)('over %s', (protocol) => {
  let collector: OtlpCollector;
  let upstream: ScriptedUpstream;
  const seen: CollectedSpan[] = [];
  beforeAll(async () => {
    collector = await startOtlpCollector();
    upstream = await startUpstream();
  });
  afterAll(async () => {
    await collector.stop();
    await upstream.stop();
  });

  /** The spans of the attempts of these calls, in order. */
  async function spansOf(name: DialectName, calls: (gateway: TestGateway) => Promise<void>): Promise<CollectedSpan[]> {
    const gateway = await startGateway({
      config: {
        groups: [{ id: 'default', policy: { retries: 0 } }],
        providers: [mainProvider(baseUrlOf(name, upstream.origin), { ...dialects[name].config })],
        settings: {
          telemetry: { endpoint: collector.origin, protocol, metrics: false },
          prices: { 'gpt-x': name === 'chat' ? { input: 0.15, output: 0.6 } : { input: 0, output: 0 } },
        },
      },
      secrets: { 'provider/main/c1': dialects[name].secret },
    });
    collector.spans.length = 0;
    await calls(gateway);
    await gateway.stop();
    seen.push(...collector.spans);
    return collector.spans.filter(({ kind }) => kind === 3).sort((one, other) => one.startMs - other.startMs);
  }

  async function post({ origin }: TestGateway, path: string, body: object, script: Script): Promise<void> {
    upstream.answer(script);
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
    const response = await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
    await response.text().catch(() => undefined);
  }

  const ask = (gateway: TestGateway, client: ClientName, isStream: boolean, script: Script) => {
    const { path, ask: bodyOf } = clients[client];
    return post(gateway, path('gpt-x', isStream), { ...bodyOf('gpt-x', isStream), ...parameters[client] }, script);
  };

  test.each(dialectNames)('answers of %s are told of, to clients of each API', async (name) => {
    const spans = await spansOf(name, async (gateway) => {
      for (const client of clientNames) {
        await ask(gateway, client, false, wholeThatEnds(name, 'soundly'));
        await ask(gateway, client, true, streamThatEnds(name, 'soundly'));
      }
    });
    expect(spans.map(requestOf)).toEqual(Array(spans.length).fill(limited));
    expect(spans.map(responseOf)).toEqual(Array(2 * clientNames.length).fill(told[name]));
  });

  test.each(dialectNames)('a stream of %s that broke off ended with an error', async (name) => {
    const spans = await spansOf(name, (gateway) =>
      ask(gateway, 'chat', true, streamThatEnds(name, 'with a reset in its text')),
    );
    expect(spans.map(({ attributes }) => attributes['gen_ai.response.finish_reasons'])).toEqual([['error']]);
  });

  test('so are completions, of several choices, and embeddings', async () => {
    const choices = ['length', 'stop'].map((reason, index) => ({ index, text: 'planted', finish_reason: reason }));
    const spans = await spansOf('chat', async (gateway) => {
      const completion = { id: 'cmpl-1', object: 'text_completion', model: 'm', choices };
      await post(gateway, '/v1/completions', { model: 'gpt-x', prompt: 'p', n: 2, ...limited }, (_request, response) =>
        json(response, completion),
      );
      const list = { object: 'list', model: 'e', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] };
      await post(gateway, '/v1/embeddings', { model: 'gpt-x', input: 'p' }, (_request, response) =>
        json(response, list),
      );
    });
    expect(spans.map(responseOf)).toEqual([
      { id: 'cmpl-1', model: 'm', finish_reasons: ['length', 'stop'] },
      { model: 'e' },
    ]);
  });

  test('each attribute that is a number is of one type, also where it has no fraction', () => {
    const types = new Map<string, Set<string>>();
    for (const { attributes, doubles } of seen)
      for (const [name, value] of Object.entries(attributes)) {
        if (typeof value !== 'number') continue;
        types.set(name, (types.get(name) ?? new Set()).add(doubles.includes(name) ? 'double' : 'int'));
      }
    expect([...types].filter(([, { size }]) => size > 1)).toEqual([]);
    const ofType = (type: string) => [...types].flatMap(([name, has]) => (has.has(type) ? [name] : [])).sort();
    expect(ofType('double')).toEqual([
      'gen_ai.request.temperature',
      'gen_ai.response.time_to_first_chunk',
      'sluice.cost_usd',
      'sluice.queue_ms',
    ]);
    expect(seen.some(({ attributes }) => attributes['sluice.cost_usd'] === 0)).toBe(true);
  });
});

describe('of a long answer, of which the middle is not kept', () => {
  const long = 'planted "finish_reason":"text" '.repeat(2_000);
  const kept = (type: string, text: string) => {
    const excerpt = new ResponseExcerpt();
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 1_000) excerpt.push(bytes.subarray(at, at + 1_000));
    return excerpt.kept(type);
  };
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  const choice = (more: object, reason: string | null) => ({ choices: [{ index: 0, ...more, finish_reason: reason }] });
  const item = { type: 'message', id: 'msg_1', status: 'completed', content: [{ type: 'output_text', text: long }] };
  const made = { id: 'resp_1', model: 'm', status: 'completed', conversation: { id: 'conv_1' }, output: [item] };
  const facts = { id: 'c1', model: 'm', finishReasons: ['stop'] };
  const ofResponse = { id: 'resp_1', model: 'm', finishReasons: ['completed'] };

  test.each<[string, typeof chat | typeof responses, string, string, object]>([
    [
      'a chat',
      chat,
      'application/json',
      JSON.stringify({ id: 'c1', model: 'm', ...choice({ message: { content: long } }, 'stop') }),
      facts,
    ],
    [
      'the stream of a chat',
      chat,
      'text/event-stream',
      [choice({ delta: { content: long } }, null), choice({ delta: {} }, 'stop')]
        .map((each) => event({ id: 'c1', model: 'm', ...each }))
        .join(''),
      facts,
    ],
    ['a response', responses, 'application/json', JSON.stringify(made), ofResponse],
    [
      'the stream of a response',
      responses,
      'text/event-stream',
      event({ type: 'response.created', response: { ...made, status: 'in_progress', output: [] } }) +
        event({ type: 'response.completed', response: made }),
      ofResponse,
    ],
    [
      'the stream of a response that is not over',
      responses,
      'text/event-stream',
      event({ type: 'response.created', response: { ...made, status: 'in_progress', output: [] } }) +
        event({ type: 'response.output_item.done', item }),
      { ...ofResponse, finishReasons: [] },
    ],
  ])('the facts of %s are found', (_what, wire, type, text, expected) => {
    const { facts: places } = wire.usage;
    expect(places && answerFacts(kept(type, text), places)).toEqual(expected);
  });
});
