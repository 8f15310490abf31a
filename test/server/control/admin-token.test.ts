import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openAdminToken } from '../../../server/control/admin-token.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-admin-'));
  path = join(folder, 'admin.token');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const stored = async () => (await readFile(path, 'utf8')).trim();

describe('the admin token', () => {
  test('is made once for a folder, private, and holds over restarts with its cookie', async () => {
    const first = await openAdminToken(folder);
    const token = await stored();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const second = await openAdminToken(folder);
    expect(await stored()).toBe(token);
    expect(second.matches(token)).toBe(true);
    expect(second.sessionMatches(first.session)).toBe(true);
    expect(second.cookieName).toBe(first.cookieName);
  });

  test('matches nothing but itself', async () => {
    const admin = await openAdminToken(folder);
    const token = await stored();
    for (const wrong of ['', token.slice(1), `${token}x`, token.toLowerCase(), admin.session]) {
      expect(admin.matches(wrong)).toBe(false);
    }
    expect(admin.sessionMatches(token)).toBe(false);
  });

  test.each([
    ['others could read', async (token: string) => [token, 0o644] as const],
    ['is cut short', async (token: string) => [token.slice(0, 10), 0o600] as const],
    ['is empty', async () => ['', 0o600] as const],
  ])('that %s is replaced', async (_name, spoil) => {
    await openAdminToken(folder);
    const token = await stored();
    const [text, mode] = await spoil(token);
    await writeFile(path, text);
    await chmod(path, mode);
    const admin = await openAdminToken(folder);
    expect(admin.matches(token)).toBe(false);
    expect(admin.matches(await stored())).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('of no folder lives in memory and differs each time', async () => {
    const [one, two] = [await openAdminToken(null), await openAdminToken(null)];
    expect(one.session).not.toBe(two.session);
    expect(one.cookieName).not.toBe(two.cookieName);
  });
});

describe('a ticket', () => {
  test('is good once, and only where it was made', async () => {
    const [one, two] = [await openAdminToken(null), await openAdminToken(null)];
    const ticket = one.createTicket();
    expect(two.redeemTicket(ticket)).toBe(false);
    expect([one.redeemTicket(ticket), one.redeemTicket(ticket)]).toEqual([true, false]);
  });

  test('is dropped when a hundred newer ones wait', async () => {
    const admin = await openAdminToken(null);
    const tickets = Array.from({ length: 101 }, () => admin.createTicket());
    expect(new Set(tickets).size).toBe(101);
    expect(tickets.map((ticket) => admin.redeemTicket(ticket)).filter((good) => !good)).toHaveLength(1);
    expect(admin.redeemTicket(tickets[0] ?? '')).toBe(false);
  });
});
