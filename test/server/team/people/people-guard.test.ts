import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { expect, test } from 'vitest';
import type { Caller } from '../../../../server/control/people/people.ts';
import { TrustedProxies } from '../../../../server/http/client-address.ts';
import {
  checkPerson,
  cookieOf,
  type PeopleAccess,
  sessionCookie,
  setCookie,
} from '../../../../server/team/people/people-guard.ts';
import { member, signedIn } from './planted-team.ts';

const callers = new Map<string, Caller>([
  ['of-a-session', signedIn(member)],
  ['slt_of-a-token', { ...signedIn(member), scopes: ['read'] }],
]);
const service = {
  recognize: async (secret: string) => callers.get(secret) ?? null,
} as unknown as PeopleAccess['service'];
const access: PeopleAccess = { service, publicOrigin: 'https://gateway.example', proxies: new TrustedProxies([]) };
const token = { matches: (presented: string) => presented === 'admin' };

const check = (headers: Record<string, string>, method = 'POST') =>
  checkPerson({ method, headers, socket: {} } as unknown as IncomingMessage, access, token);
const own = { origin: access.publicOrigin, 'sec-fetch-site': 'same-origin', host: 'gateway.example' };

test('a session counts from the public page', async () => {
  expect(await check({ ...own, cookie: '__Host-sluice=of-a-session' })).toBe(callers.get('of-a-session'));
});

test.each([
  ['a page of another origin', { cookie: '__Host-sluice=of-a-session', origin: 'https://evil.example' }],
  ['a page of the same site', { ...own, cookie: '__Host-sluice=of-a-session', 'sec-fetch-site': 'same-site' }],
  ['plain http', { cookie: '__Host-sluice=of-a-session', origin: 'http://gateway.example' }],
  ['a page that hides its origin', { cookie: '__Host-sluice=of-a-session' }],
])('a session does not count from %s', async (_name, headers) => {
  await expect(check(headers)).rejects.toMatchObject({ code: 'origin_refused' });
});

test('an API token counts as a bearer, and not in a cookie; a session not as a bearer', async () => {
  expect(await check({ authorization: 'Bearer slt_of-a-token' })).toBe(callers.get('slt_of-a-token'));
  const refused = { code: 'not_signed_in' };
  await expect(check({ ...own, cookie: '__Host-sluice=slt_of-a-token' })).rejects.toMatchObject(refused);
  await expect(check({ authorization: 'Bearer of-a-session' })).rejects.toMatchObject(refused);
});

test('the admin token is valid under this machine’s own name only', async () => {
  expect(await check({ authorization: 'Bearer admin', host: 'localhost:4810' })).toBeUndefined();
  const byPublicName = check({ authorization: 'Bearer admin', host: 'gateway.example' });
  await expect(byPublicName).rejects.toMatchObject({ code: 'host_refused' });
});

test('cookies have a name that only https and this very host can set, except on this machine', () => {
  expect(sessionCookie(access)).toBe('__Host-sluice');
  expect(sessionCookie({ ...access, publicOrigin: 'http://127.0.0.1:4810' })).toBe('sluice-session');
  const request = { headers: { cookie: 'a=b; __Host-sluice=x; __Host-sluice-sign-in=y' } } as IncomingMessage;
  expect(cookieOf(request, '__Host-sluice')).toBe('x');
});

test.each([
  ['https://gateway.example', '/', true],
  ['http://127.0.0.1:4810', '/control', false],
])('a cookie of %s is as its name demands', (publicOrigin, path, secure) => {
  const cookies: unknown[] = [];
  const response = { cookie: (...written: unknown[]) => cookies.push(written) } as unknown as Response;
  const name = sessionCookie({ ...access, publicOrigin });
  setCookie(response, { ...access, publicOrigin }, { name, value: 'x', maxAgeMs: 1_000, sameSite: 'strict' });
  expect(cookies).toEqual([[name, 'x', { httpOnly: true, secure, sameSite: 'strict', path, maxAge: 1_000 }]]);
});
