import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readCassetteContents } from '../../../server/cassettes/cassette-files.ts';

const recording = {
  version: 1,
  request: {
    method: 'POST',
    path: '/v1/chat/completions',
    wire: 'openai-chat',
    headers: {},
    body: { json: { model: 'gpt-x', messages: [] } },
  },
  response: { status: 200, headers: {}, ended: 'complete', body: { json: {}, afterMs: 1 } },
  usage: null,
};
const summary = { call: 'POST /v1/chat/completions', model: 'gpt-x', status: 200 };
const first = '0001-chat-completions-3f2a9c.json';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'sluice-opened-')), 'tests.sluice-cassette');
  mkdirSync(folder);
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const write = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content));

it('a cassette is opened by its folder, a recording or its settings', async () => {
  write(first, recording);
  write('cassette.json', {});
  for (const path of [folder, join(folder, first), join(folder, 'cassette.json')]) {
    expect(await readCassetteContents(path)).toEqual({ folder, recordings: [{ name: first, ...summary }], total: 1 });
  }
});

it('what is no recording is told by its name, and so is one too large to look into', async () => {
  write(first, recording);
  write('0002-broken.json', { version: 1 });
  writeFileSync(join(folder, '0003-large.json'), ' '.repeat(2 * 1024 * 1024 + 1));
  const none = { call: null, model: null, status: null };
  expect((await readCassetteContents(folder))?.recordings).toEqual([
    { name: first, ...summary },
    { name: '0002-broken.json', ...none },
    { name: '0003-large.json', ...none },
  ]);
});

it('of many recordings, the first are read', async () => {
  for (let number = 1; number <= 205; number++) write(`${number}-chat-000000.json`, recording);
  const contents = await readCassetteContents(folder);
  expect(contents?.recordings).toHaveLength(200);
  expect(contents?.total).toBe(205);
});

it('other files are no cassettes', async () => {
  write('team.json', { teamPreset: 1 });
  write('notes.txt', recording);
  for (const name of ['team.json', 'notes.txt', 'gone.json'])
    expect(await readCassetteContents(join(folder, name))).toBeNull();
});
