/** What is stored beside the rows of requests, and for how long. */
import { describe, expect, test } from 'vitest';
import type { PinChange } from '../../../../../server/contract/request-views.ts';
import { type ExportFormat, exportRequests } from '../../../../../server/store/sqlite/export.ts';
import { eventually } from '../../../../support/eventually.ts';
import { capturedExchange, shadowed } from '../../sqlite/records.ts';
import {
  began,
  day,
  dayName,
  ended,
  minute,
  noon,
  type StoreSubject,
  type UsedLedger,
  useLedger,
} from '../store-subject.ts';

export function keptContract(subject: StoreSubject): void {
  shadowContract(subject);
  captureContract(subject);
  captureRoomContract(subject);
  refusalContract(subject);
  retentionContract(subject);
  pinContract(subject);
  exportContract(subject);
}

function shadowContract(subject: StoreSubject): void {
  describe('the shadows that earlier versions sent', () => {
    const used = useLedger(subject);

    test('are read as they were, and are no usage of keys and groups', async () => {
      const shadow = ended('req_2', { shadowOf: { ...shadowed, id: 'req_1' }, costUsd: 0.25, sameAnswer: true });
      used.add(ended('req_1', { costUsd: 1 }), { ...shadow, keyId: null, captured: 'shadow' });
      expect(await used.ids({})).toEqual(['req_2', 'req_1']);
      expect(await used.ledger.getRequest('req_2')).toMatchObject({
        ...{ captured: 'shadow', sameAnswer: true },
        shadowOf: { ...shadowed, id: 'req_1' },
      });
      const names = async (by: 'key' | 'group') =>
        (await used.ledger.summarizeUsage({ by })).map(({ name, costUsd }) => [name, costUsd]);
      expect(await names('key')).toEqual([
        ['k1', 1],
        ['shadow:default', 0.25],
      ]);
      expect(await names('group')).toEqual([
        ['default', 1],
        ['shadow:default', 0.25],
      ]);
    });
  });
}

function captureContract(subject: StoreSubject): void {
  describe('what was captured', () => {
    const used = useLedger(subject);

    async function read(id: string) {
      const request = await used.ledger.getRequest(id);
      if (!request) throw new Error(`There is no ${id}.`);
      return used.ledger.readCapture(request);
    }

    test('is read as it was, also after a restart', async () => {
      const exchange = capturedExchange('{"a":"\u0000\u{1f44b}"}', 'answer');
      const [attempt] = exchange.attempts;
      if (!attempt) throw new Error('unreachable: it has one');
      const sent = { ...attempt.request, body: Buffer.from([0, 255, 10]) };
      const whole = { ...exchange, attempts: [attempt, { ...attempt, request: sent }] };
      used.add(ended('req_1', { captured: 'key' }));
      used.ledger.capture('req_1', whole);
      const asBuffers = ({ capture, absence }: Awaited<ReturnType<typeof read>>) => ({
        absence,
        bodies: [capture?.request, capture?.response, ...(capture?.attempts ?? []).map(({ request }) => request)].map(
          (message) => message?.body && Buffer.from(message.body).toString('hex'),
        ),
        headers: capture?.request.headers,
        attempts: capture?.attempts.map(({ request }) => request.gap),
      });
      const expected = asBuffers({ capture: whole, absence: null });
      expect(asBuffers(await read('req_1'))).toEqual(expected);
      await used.restart();
      expect(asBuffers(await read('req_1'))).toEqual(expected);
    });

    test('says why there is nothing', async () => {
      const startedAt = Date.now() - minute;
      used.add(
        ended('req_off', { startedAt }),
        ended('req_session', { startedAt, captured: 'key', capability: 'realtime' }),
        ended('req_expired', { startedAt, captured: 'key' }),
      );
      used.ledger.started(began('req_running', { startedAt }));
      const absences = [];
      for (const id of ['req_off', 'req_running', 'req_session', 'req_expired'])
        absences.push((await read(id)).absence);
      expect(absences).toEqual(['off', 'running', 'session', 'expired']);
      used.ledger.capture('req_1', capturedExchange('text'));
      used.add(ended('req_lost', { startedAt: Date.now() + minute, captured: 'key' }));
      expect((await read('req_lost')).absence).toBe('lost');
    });
  });
}

function captureRoomContract(subject: StoreSubject): void {
  describe('the room that captures take', () => {
    const used = useLedger(subject);
    const mebibyte = 1024 * 1024;
    const bodyBytes = 20_000;
    /** What is known of it takes some bytes too. */
    const exchange = () => {
      const { request, response, attempts } = capturedExchange('a'.repeat(bodyBytes), 'b'.repeat(bodyBytes));
      const [attempt] = attempts;
      if (!attempt) throw new Error('unreachable: it has one');
      const own = { ...attempt.response, body: Buffer.alloc(bodyBytes, 'c') };
      return { request, response, attempts: [{ ...attempt, response: own }] };
    };
    const held = () => used.ledger.health().capturedBytes ?? 0;

    async function capture(from: number, to: number): Promise<void> {
      for (let index = from; index < to; index++) {
        used.add(ended(`req_${index}`, { captured: 'header', startedAt: Date.now() }));
        used.ledger.capture(`req_${index}`, exchange());
        if (index % 10 === 9) await used.ledger.flush();
      }
      await used.ledger.flush();
    }

    async function readable(from: number, to: number): Promise<number[]> {
      const found: number[] = [];
      for (let index = from; index < to; index++) {
        const request = await used.ledger.getRequest(`req_${index}`);
        if (!request) throw new Error(`There is no req_${index}.`);
        const { capture: kept, absence } = await used.ledger.readCapture(request);
        if (kept) found.push(index);
        else expect(absence).toBe('expired');
      }
      return found;
    }

    test('is bounded while they are written: the oldest are gone, and the requests are not', async () => {
      used.settings.capture.totalBytes = 2 * mebibyte;
      await capture(0, 100);
      let kept: number[] = [];
      // The room is counted a moment after it is written or given back.
      await eventually(async () => {
        kept = await readable(0, 100);
        return held() > mebibyte && held() <= 2 * mebibyte && kept.length * 3 * bodyBytes <= held();
      });
      expect(held()).toBeLessThan(kept.length * 3 * (bodyBytes + 1_000));
      expect(kept).toEqual(Array.from(kept, (_, index) => 100 - kept.length + index));
      expect(kept.length).toBeGreaterThan(30);
      expect(await used.ids({ limit: 200 })).toHaveLength(100);
    });

    test('is counted on after a restart, and given back when the bound is lowered', async () => {
      await capture(0, 40);
      await used.ledger.sweep();
      const before = held();
      expect(before).toBeGreaterThan(40 * 3 * bodyBytes);
      await used.restart();
      await used.ledger.sweep();
      expect(held()).toBe(before);
      used.settings.capture.totalBytes = mebibyte;
      await used.ledger.sweep();
      expect(held()).toBeLessThanOrEqual(mebibyte);
      expect((await readable(0, 40)).at(-1)).toBe(39);
    });

    test('is never so little that the newest is not kept', async () => {
      used.settings.capture.totalBytes = 1;
      await capture(0, 3);
      await used.ledger.sweep();
      expect(await readable(0, 3)).toEqual([2]);
    });
  });
}

function refusalContract(subject: StoreSubject): void {
  describe('requests without a valid key', () => {
    const used = useLedger(subject);
    let count = 0;
    const refuse = (reason: string, startedAt: number, client: string | null) =>
      used.ledger.refusals.add(
        ended(`req_${count++}`, { keyId: null, groupId: null, outcome: 'error', errorCode: reason, startedAt, client }),
      );

    test('are counted by reason at once, and have no rows', async () => {
      for (let index = 0; index < 500; index++) refuse('invalid_api_key', noon + index, `tool ${index}`);
      refuse('missing_key', noon + 40_000, null);
      for (let index = 0; index < 10; index++) refuse('invalid_api_key', noon + minute + index, 'last');
      const told = [
        { keyId: null, reason: 'invalid_api_key', requests: 510, lastAt: noon + minute + 9, lastClient: 'last' },
        { keyId: null, reason: 'missing_key', requests: 1, lastAt: noon + 40_000, lastClient: null },
      ];
      expect(used.ledger.refusals.since(noon)).toEqual(told);
      await used.ledger.flush();
      expect(used.ledger.refusals.since(noon)).toEqual(told);
      expect(used.ledger.refusals.since(noon + minute)).toMatchObject([{ requests: 10 }]);
      expect(used.ledger.refusals).toMatchObject({ count: 511, unauthenticated: 511 });
      expect(await used.ids({})).toEqual([]);
      expect(await used.ledger.summarizeUsage({ by: 'day' })).toEqual([]);
    });

    test('are counted on in a minute that was written already, and over a restart', async () => {
      refuse('missing_key', noon, 'a');
      await used.ledger.flush();
      refuse('missing_key', noon + 1, 'b');
      await used.restart();
      refuse('missing_key', noon + 2, 'c');
      const told = [{ keyId: null, reason: 'missing_key', requests: 3, lastAt: noon + 2, lastClient: 'c' }];
      expect(used.ledger.refusals.since(0)).toEqual(told);
    });

    test('that are counted out of order have the time and client of the latest', async () => {
      refuse('missing_key', noon + 500, 'latest');
      refuse('missing_key', noon + 200, 'earlier');
      await used.ledger.flush();
      refuse('missing_key', noon + 100, 'earliest');
      await used.restart();
      refuse('missing_key', noon + 400, 'later');
      const told = [{ keyId: null, reason: 'missing_key', requests: 4, lastAt: noon + 500, lastClient: 'latest' }];
      expect(used.ledger.refusals.since(0)).toEqual(told);
    });

    test('are kept for ten thousand minutes', async () => {
      for (let index = 0; index < 10_500; index++) {
        refuse('missing_key', noon + index * minute, null);
        if (index % 500 === 0) await used.ledger.flush();
      }
      await used.ledger.flush();
      const told = [{ requests: 10_000, lastAt: noon + 10_499 * minute }];
      expect(used.ledger.refusals.since(0)).toMatchObject(told);
    });
  });

  describe('requests over a limit that are only counted', () => {
    const used = useLedger(subject);
    const over = {
      outcome: 'error',
      status: 429,
      errorCode: 'rate_limit_exceeded',
      attempts: [],
      client: 'loop',
    } as const;
    const unserved = { ...over, attempts: [], provider: null, modelServed: null, usage: null, costUsd: 0 };
    const refuse = (id: string, keyId: string, startedAt = noon) =>
      used.ledger.counted(ended(id, { ...unserved, keyId, startedAt }));

    test('are in the counts by key and the usage exactly, over a restart, and have no rows', async () => {
      used.add(ended('req_first', { ...unserved, keyId: 'k1' }));
      for (let index = 0; index < 700; index++) refuse(`req_${index}`, 'k1', noon + index);
      refuse('req_other', 'k2');
      await used.restart();
      for (let index = 0; index < 300; index++) refuse(`req_later_${index}`, 'k1', noon + minute + index);
      const told = { reason: 'rate_limit_exceeded', lastClient: 'loop' };
      expect(used.ledger.refusals.since(noon)).toEqual([
        { keyId: 'k1', requests: 1_000, lastAt: noon + minute + 299, ...told },
        { keyId: 'k2', requests: 1, lastAt: noon, ...told },
      ]);
      expect(used.ledger.refusals).toMatchObject({ count: 300, unauthenticated: 0 });
      expect(await used.ids({})).toEqual(['req_first']);
      const usage = await used.ledger.summarizeUsage({ by: 'key' });
      expect(usage.map(({ name, requests, failed, refused }) => [name, requests, failed, refused])).toEqual([
        ['k1', 1_001, 0, 1_001],
        ['k2', 1, 0, 1],
      ]);
      expect(used.ledger.lastUsed().get('k2')).toBe(noon);
    });
  });
}

function retentionContract(subject: StoreSubject): void {
  describe('retention', () => {
    const used = useLedger(subject);

    test('drops requests and sums that are older than the days to keep, and no younger ones', async () => {
      used.settings.ledger.retentionDays = 2;
      const nowMs = Date.now();
      for (const age of [5, 4, 1, 0]) used.add(ended(`req_${age}`, { startedAt: nowMs - age * day }));
      await used.ledger.flush();
      await used.ledger.sweep();
      expect(await used.ids({})).toEqual(['req_0', 'req_1']);
      const days = (await used.ledger.summarizeUsage({ by: 'day' })).map(({ name }) => name);
      expect(days).toEqual([dayName(nowMs - day), dayName(nowMs)]);
      expect(await used.ledger.summarizeUsage({ by: 'provider' })).toMatchObject([{ name: 'main', requests: 2 }]);
    });

    test('keeps the newest requests where there are too many, and the sums of all', async () => {
      used.settings.ledger.retentionRows = 3;
      for (const age of [3, 2, 1, 0])
        for (let index = 0; index < 3; index += 1)
          used.add(ended(`req_${age}_${index}`, { startedAt: noon - age * day + index }));
      await used.ledger.flush();
      await used.ledger.sweep();
      const left = await used.ids({});
      expect(left.slice(0, 3)).toEqual(['req_0_2', 'req_0_1', 'req_0_0']);
      expect(left.filter((id) => id.startsWith('req_3') || id.startsWith('req_2'))).toEqual([]);
      expect(await used.ledger.summarizeUsage({ by: 'key' })).toMatchObject([{ requests: 12 }]);
    });
  });
}

function pinContract(subject: StoreSubject): void {
  describe('pinned requests', () => {
    const used = useLedger(subject);
    const body = { encoding: 'utf8' as const, data: '{"said":"nul \\u0000 and \ud83d\ude00"}' };
    const message = { headers: [['x-team', 'blue']] as const, body, bytes: 30, gap: null };
    const capture = {
      request: { method: 'POST', url: '/v1/chat/completions', ...message },
      response: { status: 200, ...message },
      attempts: [],
    };

    async function pinnedOf(id: string, note: string | null = null) {
      const request = await used.ledger.getRequest(id);
      if (!request) throw new Error(`There is no ${id}.`);
      return { request, pinnedAt: noon, note };
    }

    test('are read as they were after a restart and after their rows have been deleted', async () => {
      const nowMs = Date.now();
      used.add(ended('req_old', { startedAt: nowMs - 5 * day }), ended('req_new', { startedAt: nowMs }));
      const [old, recent] = [await pinnedOf('req_old', 'the slow one\0'), await pinnedOf('req_new')];
      expect(await used.ledger.pins.put(old, capture, 2)).toBe(true);
      expect(await used.ledger.pins.put(recent, null, 2)).toBe(true);
      used.settings.ledger.retentionDays = 2;
      await used.ledger.flush();
      await used.ledger.sweep();
      await used.restart();
      expect(await used.ledger.getRequest('req_old')).toBe(null);
      const read = { ...old, note: 'the slow one\ufffd' };
      expect(await used.ledger.pins.list()).toEqual([recent, read]);
      expect(await used.ledger.pins.find('req_old')).toEqual(read);
      expect(await used.ledger.pins.readCapture('req_old')).toEqual(capture);
      expect(await used.ledger.pins.readCapture('req_new')).toBe(null);
    });

    test('are found by their notes, in any case and by any part of a word, like other requests by what they say', async () => {
      used.add(ended('req_1'), ended('req_2', { modelAsked: 'tortoise' }), ended('req_3'));
      expect(await used.ledger.pins.put(await pinnedOf('req_1', 'The Tortoise wins'), null, 9)).toBe(true);
      expect(await used.ledger.pins.put(await pinnedOf('req_3'), null, 9)).toBe(true);
      expect(await used.ids({ search: 'tortoise' })).toEqual(['req_2', 'req_1']);
      expect(await used.ids({ search: 'WIN' })).toEqual(['req_1']);
      expect(await used.ids({ search: 'WIN', model: 'tortoise' })).toEqual([]);
      expect(await used.ledger.countRequests({ search: 'tortoise' })).toMatchObject({ requests: 2 });
      expect(await used.ledger.pins.note('req_1', null)).toBe(true);
      expect(await used.ids({ search: 'WIN' })).toEqual([]);
    });

    test('are as many as may be, and are noted and removed one by one, each of which is told', async () => {
      const { pins } = used.ledger;
      const told: PinChange[] = [];
      pins.onChange((change) => told.push(change));
      used.add(ended('req_1'), ended('req_2'));
      const [first, second] = [await pinnedOf('req_1'), await pinnedOf('req_2')];
      expect(await pins.put(first, null, 1)).toBe(true);
      expect(await pins.put(second, null, 1)).toBe(false);
      expect(await pins.put({ ...first, note: 'again' }, null, 1)).toBe(true);
      expect(await pins.note('req_1', 'better')).toBe(true);
      expect(await pins.note('req_2', 'none')).toBe(false);
      expect(await pins.list()).toEqual([{ ...first, note: 'better' }]);
      expect(await pins.remove('req_1')).toBe(true);
      expect(await pins.remove('req_1')).toBe(false);
      expect(await pins.list()).toEqual([]);
      expect(await pins.find('req_1')).toBe(null);
      const pinOf = (note: string | null) => ({ pinnedAt: noon, note });
      expect(told).toEqual(
        [pinOf(null), pinOf('again'), pinOf('better'), null].map((pin) => ({
          ...{ id: 'req_1', keyId: first.request.keyId, groupId: first.request.groupId },
          pin,
        })),
      );
    });
  });
}

function exportContract(subject: StoreSubject): void {
  describe('an export', () => {
    const used = useLedger(subject);
    const lines = async (format: ExportFormat, filter = {}) => (await exported(used, format, filter)).trimEnd();

    test('as JSON lines holds each request with its attempts', async () => {
      used.add(ended('req_1'), ended('req_2', { provider: 'other' }));
      const read = (await lines('jsonl', { provider: 'main' })).split('\n').map((line) => JSON.parse(line));
      expect(read).toEqual([{ ...ended('req_1'), verdict: 'ok' }]);
    });

    test('as CSV has a line of names and a line for each request, those that run as well', async () => {
      used.add(ended('req_1', { usage: { inputTokens: 3, images: 1 }, costUsd: null }));
      used.ledger.started(began('req_2', { startedAt: noon + 1 }));
      const [names = '', second = '', first = ''] = (await lines('csv')).split('\r\n');
      expect(names).toMatch(/^id,started_at,key,group,method,route,/);
      expect(second).toContain(`req_2,${new Date(noon + 1).toISOString()},k1,default,POST,`);
      expect(second).toContain(',running,');
      const row = Object.fromEntries(names.split(',').map((name, index) => [name, first.split(',')[index]]));
      expect(row).toMatchObject({ id: 'req_1', outcome: 'ok', attempts: '1', input_tokens: '3', images: '1' });
      expect(row).toMatchObject({ cost_usd: '', output_tokens: '', stream: 'false', first_byte_ms: '12.25' });
    });

    test('of many pages leaves nothing out', async () => {
      for (let index = 0; index < 1_001; index += 1) used.add(ended(`req_${index}`));
      const ids = (await lines('jsonl')).split('\n').map((line) => JSON.parse(line).id);
      expect(new Set(ids).size).toBe(1_001);
      expect(ids[0]).toBe('req_1000');
    });
  });
}

async function exported({ ledger }: UsedLedger, format: ExportFormat, filter: object): Promise<string> {
  let whole = '';
  const listRequests = (page: object) => ledger.listRequests({ ...filter, ...page });
  for await (const piece of exportRequests({ listRequests, listPins: async () => [] }, format)) whole += piece;
  return whole;
}
