import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dayMs } from '../../../server/contract/units.ts';
import { openWindowSessions } from '../../../server/control/window-access.ts';
import { eventually } from '../../support/eventually.ts';

let folder: string;
let path: string;
let nowMs: number;
let warnings: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-sessions-'));
  path = join(folder, 'window-sessions.json');
  nowMs = Date.UTC(2026, 0, 1);
  warnings = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (at: string | null = path) =>
  openWindowSessions({ path: at, nowMs: () => nowMs, log: { warn: (_, message) => warnings.push(message) } });

test('each browser has a session value of its own, of which only the hash is stored, in a private file', async () => {
  const sessions = await open();
  const [one, other] = [await sessions.open(), await sessions.open()];
  expect(one).toMatch(/^[\w-]{43}$/);
  expect(other).not.toBe(one);
  expect([sessions.use(one), sessions.use(other), sessions.use(`${one}x`), sessions.use('')]).toEqual([
    ...[true, true, false, false],
  ]);
  const stored = await readFile(path, 'utf8');
  expect(JSON.parse(stored).sessions).toHaveLength(2);
  expect(stored).not.toContain(one);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a session holds over a restart, and ends after 30 days without a use', async () => {
  const secret = await (await open()).open();
  nowMs += 29 * dayMs;
  const second = await open();
  expect(second.use(secret)).toBe(true);
  await eventually(async () => (await readFile(path, 'utf8')).includes(String(nowMs)));
  nowMs += 29 * dayMs;
  const third = await open();
  expect(third.lasts(secret)).toBe(true);
  nowMs += 2 * dayMs;
  expect([third.lasts(secret), third.use(secret)]).toEqual([false, false]);
  expect((await open()).use(secret)).toBe(false);
});

test('checking whether a session is valid does not extend it', async () => {
  const sessions = await open();
  const secret = await sessions.open();
  for (let day = 0; day < 30; day++) {
    nowMs += dayMs;
    expect(sessions.lasts(secret)).toBe(true);
  }
  nowMs += 1;
  expect(sessions.lasts(secret)).toBe(false);
});

test('uses are stored once a day at most', async () => {
  const sessions = await open();
  const secret = await sessions.open();
  const before = await readFile(path, 'utf8');
  for (let use = 0; use < 100; use++) {
    nowMs += dayMs / 200;
    sessions.use(secret);
  }
  // A write would replace the file.
  expect([await readFile(path, 'utf8'), await readdir(folder)]).toEqual([before, ['window-sessions.json']]);
  nowMs += dayMs;
  sessions.use(secret);
  await eventually(async () => (await readFile(path, 'utf8')) !== before);
});

test('signed out everywhere, no session comes back with a restart', async () => {
  const sessions = await open();
  const secrets = [await sessions.open(), await sessions.open()];
  expect(await sessions.endAll()).toBe(2);
  for (const each of [sessions, await open()]) expect(secrets.map(each.use)).toEqual([false, false]);
});

test('a file that cannot be written locks no one out, and is reported', async () => {
  const sessions = await open(join(folder, 'missing', 'window-sessions.json'));
  const secret = await sessions.open();
  expect(sessions.use(secret)).toBe(true);
  expect(warnings).toEqual(['the sessions of the window could not be stored']);
  await expect(sessions.endAll()).rejects.toThrow('ENOENT');
  expect(sessions.use(secret)).toBe(false);
});

test('of more than a hundred browsers the one that was used longest ago is signed out', async () => {
  const sessions = await open(null);
  const secrets: string[] = [];
  for (let index = 0; index <= 100; index++) {
    nowMs += 1;
    secrets.push(await sessions.open());
    if (index === 50) sessions.use(secrets[0] ?? '');
  }
  expect(secrets.map(sessions.lasts).flatMap((lasts, index) => (lasts ? [] : [index]))).toEqual([1]);
});

test.each(['', '{', '{"sessions":[{"hash":1}]}', '[]'])('a file that holds %j signs nobody in', async (text) => {
  await writeFile(path, text);
  const sessions = await open();
  expect(await sessions.endAll()).toBe(0);
});
