/**
 * A provider that fails in each of the sixteen ways that a public benchmark of gateways asks about, with a sound one behind it and
 * the policy that a group has by default: its client gets the whole answer, once, and neither provider is hammered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { stretched } from '../../support/cpu-work.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { usage } from '../../support/strict-chat.ts';
import { eventStream, json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { chunk } from './streams.ts';
import { chat, textOf } from './two-upstreams.ts';

const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
const text = words.join('');

interface Course {
  /** Words that come before the stream breaks off or falls silent. */
  breaksAfter?: number;
  stallsAfter?: number;
  malformedAt?: number;
  beginsAfterMs?: number;
  hasDone?: boolean;
}

const data = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

function streaming(model: string, course: Course = {}): Script {
  const { breaksAfter, stallsAfter, malformedAt, beginsAfterMs = 0, hasDone = true } = course;
  return async (_request, response) => {
    eventStream(response);
    response.write(data(chunk({ role: 'assistant', content: '' }, null, { model })));
    if (beginsAfterMs > 0) await pause(beginsAfterMs);
    const until = breaksAfter ?? stallsAfter ?? words.length;
    for (const [index, content] of words.slice(0, until).entries()) {
      const event = data(chunk({ content }, null, { model }));
      response.write(index === malformedAt ? `${event.slice(0, -20)}\n\n` : event);
      if (index % 10 === 0) await pause(2);
    }
    if (breaksAfter !== undefined) return void response.destroy();
    if (stallsAfter !== undefined) return;
    response.write(data(chunk({}, 'stop', { model })));
    response.write(data({ ...chunk({}), model, choices: [], usage }));
    response.end(hasDone ? data('[DONE]') : '');
  };
}

const refusing =
  (status: number, error: object, headers: Record<string, string> = {}): Script =>
  (_request, response) =>
    json(
      response,
      { error: { message: 'It is scripted.', type: 'server_error', param: null, code: null, ...error } },
      status,
      headers,
    );

const primary = 'primary-model';
const backup = 'backup-model';
const sound = streaming(primary);
const overloaded = refusing(503, { code: 'overloaded' });
const limited = { type: 'rate_limit_error', code: 'rate_limit_exceeded' };
const breaking = streaming(primary, { breaksAfter: 40 });
const silenceMs = stretched(1_500);

/** Answers only requests that end with a message of the user's. */
const withoutPrefill: Script = (request, response, raw) => {
  const { messages } = JSON.parse(request.body.toString()) as { messages: { role: string }[] };
  const script = messages.at(-1)?.role === 'assistant' ? refusing(400, { code: 'invalid_prefill' }) : streaming(backup);
  return script(request, response, raw);
};

type Range = readonly [least: number, most: number];

interface Scenario {
  title: string;
  /** What the first provider plays; the last one from then on. */
  plays: readonly Script[];
  backup?: Script;
  told: 'whole' | 'error';
  asked: Range;
  backupAsked: Range;
}

const never: Range = [0, 0];
const once: Range = [1, 1];
const whole = (title: string, plays: readonly Script[], asked: Range, backupAsked: Range): Scenario => ({
  ...{ title, plays, told: 'whole', asked, backupAsked },
});

const scenarios: readonly Scenario[] = [
  whole('429 with Retry-After, once', [refusing(429, limited, { 'retry-after': '2' }), sound], [2, 2], never),
  whole('429 without Retry-After', [refusing(429, limited)], [1, 3], once),
  whole('500 once', [refusing(500, {}), sound], [2, 2], never),
  whole('503', [overloaded], [1, 3], once),
  whole('a reset before the headers, once', [(_, response) => void response.destroy(), sound], [1, 2], [0, 1]),
  whole('no answer at all', [() => {}], once, once),
  whole('a slow first word', [streaming(primary, { beginsAfterMs: 400 })], once, never),
  whole('a stream that is cut', [breaking], once, once),
  whole('a stream that stalls', [streaming(primary, { stallsAfter: 20 })], once, once),
  whole('an event that is no JSON', [streaming(primary, { malformedAt: 10 })], once, once),
  whole('a stream without [DONE]', [streaming(primary, { hasDone: false })], once, never),
  whole('a request that is too long for it', [refusing(400, { code: 'context_length_exceeded' })], once, once),
  {
    ...{ title: 'a refusal by its content filter', told: 'error', asked: once, backupAsked: never },
    plays: [refusing(400, { type: 'invalid_request_error', code: 'content_policy_violation' })],
  },
  {
    ...whole('a stream that is cut, and a backup that takes no prefill', [breaking], once, once),
    backup: withoutPrefill,
  },
];

let upstream: ScriptedUpstream;
let gateway: TestGateway;
const asked = new Map<string, number[]>();
const timesOf = (lane: string) => asked.get(lane) ?? [];
/** Plays of the provider that is down for a while. */
let isDown = true;
const flapping: Script = (request, response, raw) => (isDown ? overloaded : sound)(request, response, raw);
const flaps: Scenario = whole('flaps', [flapping], once, once);
const all = [...scenarios, flaps];

beforeAll(async () => {
  upstream = await startUpstream((request, response, raw) => {
    const [, lane = ''] = request.url.split('/');
    const { plays = [], backup: second = streaming(backup) } = all[Number(lane.slice(1))] ?? {};
    const times = timesOf(lane);
    asked.set(lane, [...times, performance.now()]);
    const script = lane.startsWith('b') ? second : (plays[times.length] ?? plays.at(-1));
    return script?.(request, response, raw);
  });
  const provider = (id: string, model: string) => ({
    id,
    baseUrl: `${upstream.origin}/${id}/v1`,
    credentials: [{ id: 'c1' }],
    models: [model],
    timeouts: { firstByteMs: silenceMs, firstContentMs: silenceMs, idleMs: silenceMs },
  });
  const providers = all.flatMap((_, index) => [provider(`p${index}`, primary), provider(`b${index}`, backup)]);
  gateway = await startGateway({
    config: {
      providers,
      groups: [{ id: 'default' }],
      aliases: all.map((_, index) => ({
        name: `m${index}`,
        targets: [
          { provider: `p${index}`, model: primary, priority: 1 },
          { provider: `b${index}`, model: backup, priority: 2 },
        ],
      })),
    },
    secrets: Object.fromEntries(providers.map(({ id }) => [`provider/${id}/c1`, 'secret'])),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

async function ask(index: number) {
  const body = { model: `m${index}`, stream_options: { include_usage: true } };
  const response = await gateway.fetch('/chat/completions', chat(body));
  const received = await response.text();
  const row: RequestView = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  return { status: response.status, received, row };
}

function expectWhole(received: string): void {
  expect(textOf(received)).toBe(text);
  expect(received.match(/"finish_reason":"stop"/g)).toHaveLength(1);
  expect(received).toContain(`"completion_tokens":${usage.completion_tokens}`);
}

const within = (count: number, [least, most]: Range) =>
  expect([least, most]).toSatisfy(() => count >= least && count <= most);

describe('a provider that shows', () => {
  test.concurrent.each(scenarios.map((scenario, index) => [scenario.title, scenario, index] as const))(
    '%s',
    async (_title, { told, asked: mayBeAsked, backupAsked }, index) => {
      const { status, received, row } = await ask(index);
      if (told === 'whole') expectWhole(received);
      else expect([status, received]).toEqual([400, expect.stringContaining('content_policy_violation')]);
      within(timesOf(`p${index}`).length, mayBeAsked);
      within(timesOf(`b${index}`).length, backupAsked);
      expect(row.outcome).toBe(told === 'whole' ? 'ok' : 'error');
    },
  );

  test('429 with Retry-After is asked again no sooner', () => {
    const [first = 0, second = 0] = timesOf('p0');
    expect(second - first).toBeGreaterThan(1_800);
  });

  test('503 is not what the answer is told and billed as', async () => {
    const { received, row } = await ask(3);
    expect(received).toContain(`"model":"${backup}"`);
    expect(row).toMatchObject({ provider: 'b3', usage: { outputTokens: usage.completion_tokens } });
    expect(row.attempts.filter(({ provider }) => provider === 'p3').every((each) => each.usage === null)).toBe(true);
  });

  test('503 for a while is asked now and then, and used again once it has recovered', async () => {
    const index = all.indexOf(flaps);
    for (let count = 0; count < 10; count++) {
      expectWhole((await ask(index)).received);
      await pause(200);
    }
    expect(timesOf(`p${index}`).length).toBeLessThan(10);
    isDown = false;
    const recoveredMs = performance.now();
    let answering: string | null = null;
    while (answering !== `p${index}` && performance.now() - recoveredMs < 25_000) {
      const { received, row } = await ask(index);
      expectWhole(received);
      answering = row.provider;
      await pause(100);
    }
    expect(answering).toBe(`p${index}`);
  });
});
