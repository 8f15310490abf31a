/** Pinned requests: what is kept of them whatever is deleted, how they are found, and what their notes may not contain. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ControlEvent } from '../../../server/contract/events.ts';
import { mostPins } from '../../../server/contract/pins.ts';
import { readFilterText } from '../../../server/contract/request-filter.ts';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.answer((_request, response) => json(response, completion({ content: 'By heaps' })));
  folder = temporaryFolder();
  await start();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  gateway = await startGateway({
    folder,
    config: {
      providers: [mainProvider(upstream.baseUrl)],
      groups: [{ id: 'default', capture: true }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    },
  });
}

async function ask(content: string): Promise<string> {
  const { request_id: id } = await gateway.client.chat.completions
    .create({ model: 'gpt-x', messages: [{ role: 'user', content }] })
    .withResponse();
  await gateway.record(id ?? '');
  return id ?? '';
}

const found = async (written: string) => {
  const { filter, words } = readFilterText(written);
  const search = words === '' ? {} : { search: words };
  const { requests } = await gateway.gateway.query({ type: 'requests', filter: { ...filter, ...search } });
  return requests.map(({ id }) => id);
};

test('are found with their captures and notes once their rows and captures have been deleted', async () => {
  const [slow, other] = [await ask('Sort it'), await ask('Sort it again')];
  const key = ['sk', 'sluice', 'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MDEyMzQ1Njc4OTA'].join('-');
  const { execute, query } = gateway.gateway;
  const told: ControlEvent[] = [];
  const stopListening = gateway.gateway.onEvent(({ event }) => {
    if (event.type === 'pin-changed') told.push(event);
  });
  const pinned = await execute({ type: 'request.pin', id: slow, note: ` The slow one, of ${key} ` });
  expect(pinned).toMatchObject({ pin: { note: expect.stringMatching(/^The slow one, of .*\[redacted\]$/) } });
  expect(JSON.stringify(pinned)).not.toContain(key);
  await execute({ type: 'request.pin', id: other });
  await execute({ type: 'request.unpin', id: other });
  await execute({ type: 'request.pin', id: other });
  const change = (id: string, pin: unknown) => ({ type: 'pin-changed', id, keyId: 'k1', groupId: 'default', pin });
  const pinOfOther = { pinnedAt: expect.any(Number), note: null };
  expect(told).toEqual([change(slow, pinned.pin), ...[pinOfOther, null, pinOfOther].map((pin) => change(other, pin))]);
  stopListening();
  expect(await found('SLOW one')).toEqual([slow]);
  const before = await query({ type: 'request', id: slow });
  expect(before.pin).toEqual(pinned.pin);
  await gateway.stop();
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  for (const table of ['requests', 'captures']) database.prepare(`DELETE FROM ${table}`).run();
  database.close();
  await start();
  expect(await gateway.gateway.query({ type: 'request', id: slow })).toEqual(before);
  expect(before.capture?.response.body?.data).toContain('By heaps');
  expect(await found('')).toEqual([]);
  expect(await found('is:pinned')).toEqual([other, slow]);
  expect(await found('is:pinned SLOW one')).toEqual([slow]);
  expect(await found('is:pinned model:gpt-y')).toEqual([]);
  const count = await gateway.gateway.query({ type: 'request-count', filter: { pinned: true } });
  expect(count).toEqual({ requests: 2, failed: 0, refused: 0, isComplete: true });
  let lines = '';
  for await (const piece of gateway.gateway.exportRequests('jsonl', { pinned: 'true', search: 'slow' })) lines += piece;
  expect(JSON.parse(lines)).toMatchObject({ id: slow, pin: pinned.pin });
  // A note is changed and removed without the request.
  await gateway.gateway.execute({ type: 'request.pin', id: slow, note: '' });
  expect(await gateway.gateway.query({ type: 'pins' })).toMatchObject([{ id: other }, { id: slow, note: null }]);
  for (const id of [slow, other]) await gateway.gateway.execute({ type: 'request.unpin', id });
  await expect(gateway.gateway.query({ type: 'request', id: slow })).rejects.toMatchObject({ code: 'not_found' });
});

test('are so many at most; one that runs, or is none, is not pinned', async () => {
  const id = await ask('Sort it');
  await gateway.gateway.execute({ type: 'request.pin', id });
  await gateway.stop();
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  const copy = database.prepare(
    'INSERT INTO pins SELECT id || ?, started_at, pinned_at, note, request, capture FROM pins LIMIT 1',
  );
  for (let count = 1; count < mostPins; count++) copy.run(`_${count}`);
  database.close();
  await start();
  const more = await ask('Sort it');
  await expect(gateway.gateway.execute({ type: 'request.pin', id: more })).rejects.toMatchObject({ code: 'conflict' });
  // The note of one that is pinned can still be written.
  await gateway.gateway.execute({ type: 'request.pin', id, note: 'full' });
  await gateway.gateway.execute({ type: 'request.unpin', id });
  await gateway.gateway.execute({ type: 'request.pin', id: more });
  const held = Promise.withResolvers<void>();
  upstream.answer(async (_request, response) => {
    await held.promise;
    json(response, completion({ content: 'Late' }));
  });
  const late = ask('Slowly');
  await expect
    .poll(
      async () => (await gateway.gateway.query({ type: 'requests', filter: { outcome: 'running' } })).requests.length,
    )
    .toBe(1);
  const {
    requests: [running],
  } = await gateway.gateway.query({ type: 'requests', filter: { outcome: 'running' } });
  await expect(gateway.gateway.execute({ type: 'request.pin', id: running?.id ?? '' })).rejects.toMatchObject({
    code: 'conflict',
  });
  held.resolve();
  await late;
  for (const type of ['request.pin', 'request.unpin'] as const)
    await expect(gateway.gateway.execute({ type, id: 'req_none' })).rejects.toMatchObject({ code: 'not_found' });
});
