import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { hourMs } from '../../../server/contract/units.ts';
import { createDiscovery, type Discovery } from '../../../server/providers/discovery.ts';
import type { Upstream } from '../../../server/providers/upstream.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import type { Transport } from '../../../server/transport/transport.ts';
import { compiledProvider } from '../../support/providers.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let folder: string;
let cacheFile: string;
let upstream: ScriptedUpstream;
let transport: Transport;
let asked: number;
let clock: number;
let changes: string[];
let open: Discovery[];

beforeEach(async () => {
  // Only timers are controlled by the test; sockets work in real time.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  folder = mkdtempSync(join(tmpdir(), 'sluice-discovery-'));
  cacheFile = join(folder, 'models.json');
  upstream = await startUpstream((_request, response) => json(response, { data: [{ id: 'a' }, { id: 'b' }] }));
  const real = createTransport();
  asked = 0;
  transport = {
    ...real,
    send(...parameters) {
      asked++;
      return real.send(...parameters);
    },
  };
  clock = 1_700_000_000_000;
  changes = [];
  open = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.map((discovery) => discovery.close()));
  await transport.close();
  await upstream.stop();
  rmSync(folder, { recursive: true });
});

function start(log = pino({ level: 'silent' })): Discovery {
  const discovery = createDiscovery({
    transport,
    cacheFile,
    log,
    now: () => clock,
  });
  discovery.onChange((id) => changes.push(id));
  open.push(discovery);
  return discovery;
}

function provider(more: Partial<Parameters<typeof compiledProvider>[0]> = {}, credential = 's1'): Upstream {
  return compiledProvider({ baseUrl: upstream.baseUrl, ...more }, credential);
}

/** Advances the clock until a provider is queried, at most by this time. Resolves when the provider has answered. */
async function pass(mostMs: number): Promise<void> {
  const before = { asked, changes: changes.length };
  await vi.advanceTimersByTimeAsync(0);
  for (let passedMs = 0; asked === before.asked && passedMs < mostMs; passedMs += stepMs) {
    clock += stepMs;
    await vi.advanceTimersByTimeAsync(stepMs);
  }
  expect(asked).toBe(before.asked + 1);
  await vi.waitUntil(() => changes.length > before.changes, { interval: 2 });
}

/** Short compared to the timeouts of a request. */
const stepMs = 1_000;

function names(discovery: Discovery): string[] {
  return [...(discovery.models().get('main')?.keys() ?? [])];
}

describe('watch', () => {
  test('asks at once for what is unknown, with the credential', async () => {
    const discovery = start();
    discovery.watch([provider()]);
    expect(discovery.models().has('main')).toBe(false);
    await pass(0);
    expect(names(discovery)).toEqual(['a', 'b']);
    expect(discovery.state('main')).toEqual({ fetchedAt: clock, error: null, finding: null, fault: null });
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.seen[0]).toMatchObject({ url: '/v1/models', headers: { authorization: 'Bearer s1' } });
  });

  test.each(['with the last id', 'without it'])('follows the pages of a list, %s', async (how) => {
    await upstream.stop();
    upstream = await startUpstream((request, response) => {
      const page =
        { undefined: ['a', 'b'], b: ['c', 'd'], d: ['e'] }[String(/after=(\w+)/.exec(request.url ?? '')?.[1])] ?? [];
      const last = how === 'without it' ? {} : { last_id: page.at(-1) };
      json(response, { object: 'list', data: page.map((id) => ({ id })), has_more: page.length === 2, ...last });
    });
    const discovery = start();
    discovery.watch([provider()]);
    await vi.waitUntil(() => changes.length > 0, { interval: 2 });
    expect(names(discovery)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(asked).toBe(3);
  });

  test.each([
    ['repeats itself', (): string[] => ['a', 'b'], 2, 2],
    ['never ends', (): string[] => [`n${asked}`], 20, 20],
  ])('does not follow a list that %s for ever', async (_what, idsAt, pages, models) => {
    await upstream.stop();
    upstream = await startUpstream((_request, response) => {
      json(response, {
        data: idsAt().map((id) => ({ id })),
        has_more: true,
      });
    });
    const discovery = start();
    discovery.watch([provider()]);
    await vi.waitUntil(() => changes.length > 0, { interval: 2 });
    expect([asked, names(discovery).length]).toEqual([pages, models]);
    const isCut = pages === 20;
    expect(discovery.state('main').finding).toEqual(isCut ? { code: 'list-cut', models } : null);
  });

  test('a list that is longer than what is read of it is told, and asked for again in an hour', async () => {
    const data = Array.from({ length: 6_000 }, (_, index) => ({ id: `m${index}` }));
    upstream.answer((_request, response) => json(response, { object: 'list', data }));
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    expect(names(discovery).slice(-1)).toEqual(['m5000']);
    expect(discovery.state('main')).toMatchObject({
      finding: { code: 'list-cut', models: 5_001 },
      error: expect.stringContaining('longer than the 5001 models that Sluice reads'),
    });
    await vi.advanceTimersByTimeAsync(hourMs - 1);
    expect(upstream.seen).toHaveLength(1);
  });

  test('asks again every hour, and not before', async () => {
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    upstream.answer((_request, response) => json(response, { data: [{ id: 'c' }] }));
    await vi.advanceTimersByTimeAsync(hourMs - 1);
    expect(upstream.seen).toHaveLength(1);
    await pass(hourMs * 0.11);
    expect(names(discovery)).toEqual(['c']);
  });

  test('is told the same again without asking again', async () => {
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    discovery.watch([provider()]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(upstream.seen).toHaveLength(1);
  });

  test('asks at once when the credential changed, and keeps what it knows meanwhile', async () => {
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    discovery.watch([provider({}, 's2')]);
    expect(names(discovery)).toEqual(['a', 'b']);
    await pass(0);
    expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer s2');
  });

  test('forgets what another base URL told', async () => {
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    discovery.watch([provider({ baseUrl: `${upstream.origin}/other/v1` })]);
    expect(discovery.models().has('main')).toBe(false);
  });

  test('does not ask a provider that is switched off, nor one whose models are listed, and forgets one that went', async () => {
    const discovery = start();
    discovery.watch([provider({ id: 'off', enabled: false }), provider({ id: 'listed', models: ['x'] })]);
    await vi.advanceTimersByTimeAsync(2 * hourMs);
    expect(upstream.seen).toHaveLength(0);
    discovery.watch([provider()]);
    await pass(0);
    discovery.watch([]);
    expect(discovery.models().size).toBe(0);
    await vi.advanceTimersByTimeAsync(2 * hourMs);
    expect(upstream.seen).toHaveLength(1);
  });

  test('keeps what it knows when asking fails, says why, and asks again ever more rarely', async () => {
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    upstream.answer((_request, response) => json(response, { error: { message: 's1' } }, 500));
    await pass(hourMs * 1.1);
    expect(names(discovery)).toEqual(['a', 'b']);
    expect(discovery.state('main')).toMatchObject({
      error: 'it answered 500',
      finding: { code: 'answered', status: 500 },
    });
    for (const waitMs of [30_000, 60_000, 120_000, 240_000]) {
      const before = asked;
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(asked).toBe(before);
      await pass(waitMs * 0.11);
    }
    upstream.answer((_request, response) => json(response, { data: [] }));
    await pass(480_000 * 1.1);
    expect(names(discovery)).toEqual([]);
    expect(discovery.state('main')).toEqual({ fetchedAt: clock, error: null, finding: null, fault: null });
  });

  test('asks a provider of which nothing is known again within seconds', async () => {
    upstream.answer((_request, response) => json(response, { error: { message: 's1' } }, 500));
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    for (const waitMs of [1_000, 2_000, 4_000, 5_000, 5_000]) {
      const before = asked;
      await pass(waitMs * 1.11);
      expect(asked).toBeGreaterThan(before);
    }
    upstream.answer((_request, response) => json(response, { data: [{ id: 'a' }] }));
    await pass(5_500);
    expect(names(discovery)).toEqual(['a']);
  });

  test.each([401, 403])('asks a provider that refuses the credential with %i ever more rarely', async (status) => {
    upstream.answer((_request, response) => json(response, { error: { message: 'no' } }, status));
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    for (const waitMs of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      const before = asked;
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(asked).toBe(before);
      await pass(waitMs * 0.11);
      expect(asked).toBe(before + 1);
    }
    upstream.answer((_request, response) => json(response, { data: [{ id: 'a' }] }));
    await pass(330_000);
    expect(names(discovery)).toEqual(['a']);
  });

  test.each([
    ['a web page', '<html>'],
    ['an error in JSON', '{"error":{"message":"s1"}}'],
  ])('takes %s for no list', async (_what, body) => {
    upstream.answer((_request, response) => void response.end(body));
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    expect(discovery.state('main')).toEqual({
      fetchedAt: null,
      error: 'the response is not a list of models',
      finding: { code: 'not-a-list' },
      fault: null,
    });
  });
});

describe('refresh', () => {
  test('asks now, and what is asked meanwhile shares the answer', async () => {
    const discovery = start();
    const asked = provider();
    discovery.watch([asked]);
    await Promise.all([discovery.refresh(asked), discovery.refresh(asked)]);
    expect(names(discovery)).toEqual(['a', 'b']);
    expect(upstream.seen).toHaveLength(1);
  });

  test.each([
    ['is off', { enabled: false }],
    ['has listed models', { models: ['x'] }],
  ])('of a provider that %s asks nothing', async (_what, changes) => {
    const discovery = start();
    const given = provider(changes);
    discovery.watch([given]);
    await discovery.refresh(given);
    expect(upstream.seen).toHaveLength(0);
    expect(discovery.models().size).toBe(0);
  });
});

describe('the cache', () => {
  async function fill(): Promise<void> {
    const discovery = start();
    discovery.watch([provider()]);
    await pass(0);
    await discovery.close();
  }

  test('brings models back at once after a restart, without asking while they are fresh', async () => {
    await fill();
    clock += hourMs - 1_000;
    const discovery = start();
    discovery.watch([provider()]);
    expect(names(discovery)).toEqual(['a', 'b']);
    await vi.advanceTimersByTimeAsync(500);
    expect(upstream.seen).toHaveLength(1);
    await pass(1_000);
    expect(upstream.seen).toHaveLength(2);
  });

  test('that is older than an hour is used, and asked anew at once', async () => {
    await fill();
    clock += 2 * hourMs;
    const discovery = start();
    discovery.watch([provider()]);
    expect(names(discovery)).toEqual(['a', 'b']);
    await pass(0);
    expect(upstream.seen).toHaveLength(2);
  });

  test('from the future is asked anew at once', async () => {
    await fill();
    clock -= 24 * hourMs;
    start().watch([provider()]);
    await pass(0);
    expect(upstream.seen).toHaveLength(2);
  });

  test('of another base URL is not used', async () => {
    await fill();
    const discovery = start();
    discovery.watch([provider({ baseUrl: `${upstream.origin}/other/v1` })]);
    expect(discovery.models().size).toBe(0);
  });

  test('forgets a provider that was removed, now or while Sluice was not running, and keeps one that is off', async () => {
    await fill();
    const kept = () => Object.keys(JSON.parse(readFileSync(cacheFile, 'utf8')).providers);
    const discovery = start();
    discovery.watch([provider({ enabled: false }), provider({ id: 'other' })]);
    await pass(0);
    discovery.watch([provider({ enabled: false })]);
    await discovery.close();
    expect(kept()).toEqual(['main']);
    const later = start();
    later.watch([]);
    await later.close();
    expect(kept()).toEqual([]);
  });

  test('holds no secret and is private', async () => {
    await fill();
    expect(readFileSync(cacheFile, 'utf8')).not.toContain('s1');
    if (process.platform !== 'win32') expect(statSync(cacheFile).mode & 0o777).toBe(0o600);
  });

  test.each(['', '{', '[]', '{"version":2,"providers":{}}', '{"version":1,"providers":{"main":{"models":"x"}}}'])(
    'that is broken (%j) is told of and not used',
    async (text) => {
      writeFileSync(cacheFile, text);
      const lines: string[] = [];
      const discovery = start(pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }));
      expect(lines.join('')).toContain('the cache of discovered models cannot be used');
      discovery.watch([provider()]);
      expect(discovery.models().size).toBe(0);
      await pass(0);
      expect(names(discovery)).toEqual(['a', 'b']);
    },
  );

  test('that cannot be written costs nothing but a warning', async () => {
    cacheFile = join(folder, 'missing', 'models.json');
    await fill();
    expect(upstream.seen).toHaveLength(1);
  });
});

test('close asks no more', async () => {
  const discovery = start();
  discovery.watch([provider()]);
  await discovery.close();
  await vi.advanceTimersByTimeAsync(2 * hourMs);
  expect(upstream.seen).toHaveLength(0);
});
