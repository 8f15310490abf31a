import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openAdminToken } from '../../../server/control/admin-token.ts';
import { prepareDataFolder } from '../../../server/data-folder/claim-folder.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-admin-'));
  path = join(folder, 'admin.token');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const stored = async () => (await readFile(path, 'utf8')).trim();

describe('the admin token', () => {
  test('is made once for a folder, private, and holds over restarts with the name of its cookie', async () => {
    const first = await openAdminToken({ dataDir: folder });
    const token = await stored();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const second = await openAdminToken({ dataDir: folder });
    expect(await stored()).toBe(token);
    expect(second.matches(token)).toBe(true);
    expect(second.cookieName).toBe(first.cookieName);
  });

  test('matches nothing but itself', async () => {
    const admin = await openAdminToken({ dataDir: folder });
    const token = await stored();
    for (const wrong of ['', token.slice(1), `${token}x`, token.toLowerCase(), admin.createTicket()]) {
      expect(admin.matches(wrong)).toBe(false);
    }
  });

  test.each([
    ['others could read', async (token: string) => [token, 0o644] as const],
    ['is cut short', async (token: string) => [token.slice(0, 10), 0o600] as const],
    ['is empty', async () => ['', 0o600] as const],
  ])('that %s is replaced', async (_name, spoil) => {
    await openAdminToken({ dataDir: folder });
    const token = await stored();
    const [text, mode] = await spoil(token);
    await writeFile(path, text);
    await chmod(path, mode);
    const admin = await openAdminToken({ dataDir: folder });
    expect(admin.matches(token)).toBe(false);
    expect(admin.matches(await stored())).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('of no folder lives in memory and differs each time', async () => {
    const [one, two] = [await openAdminToken({ dataDir: null }), await openAdminToken({ dataDir: null })];
    expect(one.cookieName).not.toBe(two.cookieName);
  });
});

test('an admin token that others could read is renewed at the next start, not only closed', async () => {
  await openAdminToken({ dataDir: folder });
  const token = await stored();
  await chmod(path, 0o644);
  prepareDataFolder(folder);
  const admin = await openAdminToken({ dataDir: folder });
  expect(admin.matches(token)).toBe(false);
  expect(await stored()).not.toBe(token);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

describe('a ticket', () => {
  test('is good once, and only where it was made', async () => {
    const [one, two] = [await openAdminToken({ dataDir: null }), await openAdminToken({ dataDir: null })];
    const ticket = one.createTicket();
    expect(two.redeemTicket(ticket)).toBe(false);
    expect([one.redeemTicket(ticket), one.redeemTicket(ticket)]).toEqual([true, false]);
  });

  test('that nobody used opens nothing after ten minutes', async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const admin = await openAdminToken({ dataDir: null }, () => nowMs);
    const [early, late, back] = [admin.createTicket(), admin.createTicket(), admin.createTicket()];
    nowMs += 10 * 60_000;
    expect(admin.redeemTicket(early)).toBe(true);
    nowMs += 1;
    expect(admin.redeemTicket(late)).toBe(false);
    nowMs -= 86_400_000;
    expect(admin.redeemTicket(back)).toBe(false);
  });

  test('is dropped when a hundred newer ones wait', async () => {
    const admin = await openAdminToken({ dataDir: null });
    const tickets = Array.from({ length: 101 }, () => admin.createTicket());
    expect(new Set(tickets).size).toBe(101);
    expect(tickets.map((ticket) => admin.redeemTicket(ticket)).filter((good) => !good)).toHaveLength(1);
    expect(admin.redeemTicket(tickets[0] ?? '')).toBe(false);
  });
});
