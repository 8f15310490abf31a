/** The newest requests of a new laptop are kept in memory until the person is asked, and nowhere else. */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyConfig, firstRunConfig, openConfigStore } from '../../../server/config/config-store.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { recentBodyBytes } from '../../../server/exchange/capture/capture-companion.ts';
import {
  forgetFailures,
  hashOf,
  mainProvider,
  memoryPersistence,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  testKey,
} from '../../support/gateway.ts';
import { putEmptyLedger } from '../../support/stand-ins.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { eventStream, json, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';
import { chatWithUsage } from './streams.ts';

const stopLater = stopAfterEach();
const capturedKey = 'sk-captured-key-0123456789';
let upstream: ScriptedUpstream;
let second: ScriptedUpstream;
beforeEach(async () => {
  upstream = await stopLater(startUpstream());
  second = await stopLater(startUpstream());
});

type Recent = 'unasked' | 'on' | 'off';

function laptop(recent: Recent | undefined, more: Partial<TestGatewayOptions> = {}): Promise<TestGateway> {
  const config: Partial<ConfigInput> = {
    providers: [mainProvider(upstream.baseUrl), { id: 'second', baseUrl: second.baseUrl, models: ['gpt-x'] }],
    groups: [
      { id: 'default', policy: { retries: 0 } },
      { id: 'kept', capture: true, policy: { retries: 0 } },
    ],
    keys: [
      { id: 'k1', group: 'default', hash: hashOf(testKey) },
      { id: 'k2', group: 'kept', hash: hashOf(capturedKey) },
    ],
    ...(recent && { settings: { capture: { recent } } }),
  };
  return stopLater(startGateway({ config, ...more }));
}

async function ask(sluice: TestGateway, body: object = {}, headers: Record<string, string> = {}) {
  const text = JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'aardvark' }], ...body });
  const response = await sluice.fetch('/chat/completions', { method: 'POST', body: text, headers });
  await response.text().catch(() => '');
  const id = response.headers.get('x-sluice-request-id') ?? '';
  await sluice.record(id);
  return id;
}

const full = (sluice: TestGateway, id: string) => sluice.gateway.query({ type: 'request', id });
const found = async (sluice: TestGateway, search: string, more: object = {}) =>
  (await sluice.gateway.query({ type: 'requests', filter: { search, ...more } })).requests.map(({ id }) => id);
const isKept = async (sluice: TestGateway, id: string) => (await full(sluice, id)).capture !== null;

/** What differs between two requests that are alike. */
function alike(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replaceAll(/req_\w+/g, 'req')
      .replaceAll(/"(?:date|content-length|x-request-id)","[^"]*"/g, '""'),
  );
}

describe('a request of a laptop', () => {
  const answers: [name: string, prepare: () => void, body: object][] = [
    ['whole', () => upstream.answer((_request, response) => json(response, { ok: 'answer' })), {}],
    [
      'streamed',
      () =>
        upstream.answer((_request, response) => {
          eventStream(response);
          return sendPieces(response, Buffer.from(chatWithUsage), [10, 200, 300]);
        }),
      { stream: true },
    ],
    [
      'after a fallback',
      () => {
        upstream.answer((_request, response) => json(response, { error: { message: 'busy' } }, 503));
        second.answer((_request, response) => json(response, { ok: 'second' }));
      },
      {},
    ],
    [
      'under another name',
      () => second.answer((_request, response) => json(response, { ok: 1 })),
      { model: 'second/gpt-x' },
    ],
    ['refused', () => {}, { model: '' }],
    [
      'long',
      () => upstream.answer((_request, response) => json(response, { ok: 'x'.repeat(100_000) })),
      { user: 'y'.repeat(90_000) },
    ],
  ];
  test.each(answers)('is kept in memory as captures are: %s', async (_name, prepare, body) => {
    prepare();
    const sluice = await laptop('unasked');
    const recent = await full(sluice, await ask(sluice, body));
    await forgetFailures(sluice);
    const stored = await full(sluice, await ask(sluice, body, { authorization: `Bearer ${capturedKey}` }));
    expect(recent).toMatchObject({ isRecent: true, captureAbsence: null, request: { captured: null } });
    expect(stored).toMatchObject({ isRecent: false, request: { captured: 'group' } });
    expect(alike(recent.capture)).toEqual(alike(stored.capture));
  });

  test('shows no secret, wherever it stood', async () => {
    upstream.answer((_request, response) => json(response, { said: `upstream-secret and ${testKey}` }));
    const sluice = await laptop('on');
    const id = await ask(sluice, { user: `upstream-secret ${testKey}`, note: 'sk-proj-abcdefghijklmnopqrstuvwx0123' });
    const text = JSON.stringify((await full(sluice, id)).capture);
    expect(text).toContain('aardvark');
    for (const secret of ['upstream-secret', testKey, 'sk-proj-abcdefghijklmnop']) expect(text).not.toContain(secret);
  });

  test('is in no file, no index and no export', async () => {
    upstream.answer((_request, response) => json(response, { said: 'bumblebee' }));
    const sluice = await laptop('unasked');
    const id = await ask(sluice);
    expect(await isKept(sluice, id)).toBe(true);
    expect(await found(sluice, 'aardvark bumblebee')).toEqual([id]);
    let exported = '';
    for await (const piece of sluice.gateway.exportRequests('jsonl', { search: 'aardvark' })) exported += piece;
    expect(exported).toContain(id);
    const { requests } = await sluice.gateway.query({ type: 'requests' });
    for (const told of [JSON.stringify(requests), exported]) expect(told).not.toContain('aardvark');
    await sluice.gateway.stop(1_000);
    for (const word of ['aardvark', 'bumblebee']) expect(filesWith(sluice.folder, word)).toEqual([]);
  });

  test('is found by what it says as captures are, among them and page by page, and not by its secrets', async () => {
    upstream.answer((_request, response) => json(response, { said: 'upstream-secret', note: 'Grüße' }));
    const folder = mkdtempSync(join(tmpdir(), 'sluice-recent-'));
    putEmptyLedger(folder);
    const sluice = await laptop('on', { folder });
    const ids: string[] = [];
    for (let count = 0; count < 7; count++) {
      const key = count % 2 === 0 ? {} : { authorization: `Bearer ${capturedKey}` };
      ids.push(await ask(sluice, { note: `sort the heap ${count === 3 ? 'gate.md' : 'gate'}` }, key));
    }
    const newestFirst = ids.toReversed();
    for (const search of ['heap', 'the hea', 'GRUSSE aard']) expect(await found(sluice, search)).toEqual(newestFirst);
    expect(await found(sluice, 'gate.md')).toEqual([ids[3]]);
    for (const nothing of ['eap', 'heap.the', 'upstream-secret']) expect(await found(sluice, nothing)).toEqual([]);
    const filter = { search: 'heap' };
    expect(await sluice.gateway.query({ type: 'request-count', filter })).toMatchObject({ requests: 7 });
    const paged: string[] = [];
    for (let before: number | null | undefined; before !== null; ) {
      const page = await sluice.gateway.query({
        type: 'requests',
        filter,
        limit: 2,
        ...(before !== undefined && { before }),
      });
      paged.push(...page.requests.map(({ id }) => id));
      before = page.next;
    }
    expect(paged).toEqual(newestFirst);
    expect(await found(sluice, 'heap', { keyId: 'k1' })).toEqual(newestFirst.filter((_, index) => index % 2 === 0));
    await sluice.gateway.execute({ type: 'settings.update', changes: { capture: { recent: 'off' } } });
    expect(await found(sluice, 'heap')).toEqual(newestFirst.filter((_, index) => index % 2 === 1));
  });

  test('is one of the newest 50, which hold 16 MB together and 256 kB of each body', async () => {
    const size = 300_000;
    upstream.answer((_request, response) => json(response, { said: 'z'.repeat(size) }));
    const folder = mkdtempSync(join(tmpdir(), 'sluice-recent-'));
    putEmptyLedger(folder);
    const sluice = await laptop('on', { folder });
    const first = await ask(sluice, { user: 'u'.repeat(size) });
    const { capture } = await full(sluice, first);
    for (const side of [capture?.request, capture?.response]) {
      expect(side).toMatchObject({ gap: 'too-long' });
      expect(side?.body?.data.length).toBeLessThanOrEqual(recentBodyBytes);
    }
    const ids = [first];
    for (let count = 0; count < 35; count++) ids.push(await ask(sluice, { user: 'u'.repeat(size) }));
    const kept = await Promise.all(ids.map((id) => isKept(sluice, id)));
    // Each holds 512 KiB: the attempt's bytes are the client's.
    expect(kept.filter((each) => each).length).toBeGreaterThanOrEqual(28);
    expect(kept.filter((each) => each).length).toBeLessThanOrEqual(32);
    expect(kept.at(-1)).toBe(true);
    for (let count = 0; count < 50; count++) ids.push(await ask(sluice));
    expect(await isKept(sluice, ids[35] ?? '')).toBe(false);
    expect(await isKept(sluice, ids[36] ?? '')).toBe(true);
    const absences = async () =>
      Promise.all([0, 35].map(async (at) => (await full(sluice, ids[at] ?? '')).captureAbsence));
    expect(await absences()).toEqual(['displaced', 'displaced']);
    await sluice.gateway.execute({ type: 'settings.update', changes: { capture: { recent: 'off' } } });
    expect(await absences()).toEqual(['off', 'off']);
  });

  test('is forgotten as soon as the person says so, and at the end', async () => {
    upstream.answer((_request, response) => json(response, { ok: true }));
    const folder = mkdtempSync(join(tmpdir(), 'sluice-recent-'));
    putEmptyLedger(folder);
    const sluice = await laptop('unasked', { folder });
    const id = await ask(sluice);
    expect((await sluice.gateway.query({ type: 'status' })).recentCapture).toBe('unasked');
    await sluice.gateway.execute({ type: 'settings.update', changes: { capture: { recent: 'off' } } });
    expect(await full(sluice, id)).toMatchObject({ capture: null, captureAbsence: 'off', isRecent: false });
    expect(await isKept(sluice, await ask(sluice))).toBe(false);
    await sluice.gateway.execute({ type: 'settings.update', changes: { capture: { recent: 'on' } } });
    expect(await isKept(sluice, await ask(sluice))).toBe(true);
    expect((await sluice.gateway.query({ type: 'status' })).recentCapture).toBe('on');
  });
});

describe('nothing is kept without being asked for', () => {
  test.each<[string, () => Promise<TestGateway>]>([
    ['in a data folder that has a configuration', () => laptop(undefined)],
    ['at an address that others reach', () => laptop('unasked', { ports: { listen: { host: '0.0.0.0', port: 0 } } })],
    ['once the person said no', () => laptop('off')],
  ])('%s', async (_name, start) => {
    upstream.answer((_request, response) => json(response, { ok: true }));
    const sluice = await start();
    expect((await sluice.gateway.query({ type: 'status' })).recentCapture).toBeNull();
    expect(await isKept(sluice, await ask(sluice))).toBe(false);
  });

  test('in a folder whose configuration is there or was lost, unlike in a new one', async () => {
    const open = (stored?: object) => openConfigStore({ persistence: memoryPersistence(stored ?? {}) });
    const existing = await open({ version: 1, groups: [{ id: 'default' }] });
    expect(existing.current.config.settings).toMatchObject({ guide: 'done', capture: { recent: 'off' } });
    expect(emptyConfig().settings).toMatchObject({ guide: 'done', capture: { recent: 'off' } });
    expect(firstRunConfig().settings).toMatchObject({ guide: 'open', capture: { recent: 'unasked' } });
  });
});

function filesWith(folder: string, word: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(word));
}

test('titles a session while it is in memory, and no longer', async () => {
  upstream.answer((_request, response) => json(response, { ok: 'answer' }));
  const folder = mkdtempSync(join(tmpdir(), 'sluice-recent-'));
  putEmptyLedger(folder);
  const sluice = await laptop('on', { folder });
  const id = await ask(sluice, {}, { 'x-sluice-session': 'one' });
  const told = async () => {
    const { sessions } = await sluice.gateway.query({ type: 'sessions' });
    return sluice.gateway.query({ type: 'request-texts', ids: sessions.map(({ openingId }) => openingId ?? 'none') });
  };
  expect(await told()).toEqual([
    {
      id,
      keyId: 'k1',
      groupId: 'default',
      opening: 'aardvark',
      prompt: 'aardvark',
      calls: [],
      folder: null,
      branch: null,
    },
  ]);
  await sluice.gateway.execute({ type: 'settings.update', changes: { capture: { recent: 'off' } } });
  expect(await told()).toEqual([]);
});
