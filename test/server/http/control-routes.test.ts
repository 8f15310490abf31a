import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removedFeatures } from '../../../server/contract/removed-features.ts';
import { openWindowAccess } from '../../../server/control/window-access.ts';
import { begun } from '../../support/eventually.ts';
import { type ControlGateway, startControlGateway } from '../control/control-gateway.ts';
import { openWindow, post } from './control-requests.ts';

let sluice: ControlGateway;
let cookie: string;

beforeAll(async () => {
  sluice = await startControlGateway();
  cookie = await openWindow(sluice.gateway.createAdminUrl());
});

afterAll(() => sluice.stop());

/** Unlike fetch, it lets a test choose Host, Origin and the headers that browsers set themselves. */
function send(
  path: string,
  headers: Record<string, string>,
  { method = 'POST', body = JSON.stringify({ type: 'status' }) } = {},
): Promise<{ status: number; body: { error?: { code: string; message: string } } }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${sluice.origin}/control${path}`,
      { method, headers: { 'content-type': 'application/json', ...headers } },
      async (response) => {
        let text = '';
        for await (const piece of response.setEncoding('utf8')) text += piece;
        resolve({ status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : {} });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(method === 'GET' ? undefined : body);
  });
}

describe('the control plane lets in', () => {
  const bearer = () => ({ authorization: `Bearer ${sluice.adminToken}` });
  const withCookie = () => ({ cookie, origin: sluice.origin, 'sec-fetch-site': 'same-origin' });
  const port = () => new URL(sluice.origin).port;
  const cases: [string, number, string | undefined, () => Record<string, string>][] = [
    ['nobody without a token', 403, 'admin_token_required', () => ({})],
    ['nobody with a wrong token', 403, 'admin_token_required', () => ({ authorization: 'Bearer wrong' })],
    [
      'nobody with a client key',
      403,
      'admin_token_required',
      () => ({ authorization: 'Bearer sk-test key with spaces' }),
    ],
    ['nobody with an empty token', 403, 'admin_token_required', () => ({ authorization: 'Bearer ' })],
    [
      'no token in a cookie',
      403,
      'admin_token_required',
      () => ({ ...withCookie(), cookie: `sluice=${sluice.adminToken}` }),
    ],
    ['no forged cookie', 403, 'admin_token_required', () => ({ ...withCookie(), cookie: `${cookie}x` })],
    ['the admin token', 200, undefined, bearer],
    ['the admin token by the name localhost', 200, undefined, () => ({ ...bearer(), host: `localhost:${port()}` })],
    ['the admin token by no foreign name', 403, 'host_not_allowed', () => ({ ...bearer(), host: 'evil.example' })],
    [
      'the admin token from no foreign page',
      403,
      'origin_not_allowed',
      () => ({ ...bearer(), origin: 'https://evil.example' }),
    ],
    ['the window', 200, undefined, withCookie],
    ['the window among other cookies', 200, undefined, () => ({ ...withCookie(), cookie: `a=b; ${cookie}; c=d` })],
    ['the window by no foreign name', 403, 'host_not_allowed', () => ({ ...withCookie(), host: 'evil.example' })],
    [
      'no foreign page with the cookie',
      403,
      'origin_not_allowed',
      () => ({ ...withCookie(), origin: 'https://evil.example' }),
    ],
    [
      'no page of another local port',
      403,
      'origin_not_allowed',
      () => ({ ...withCookie(), origin: 'http://127.0.0.1:3000' }),
    ],
    ['no page that hides its origin', 403, 'origin_not_allowed', () => ({ ...withCookie(), origin: 'null' })],
    ['no form that sends no origin', 403, 'origin_not_allowed', () => ({ cookie })],
    ['no cross-site request', 403, 'origin_not_allowed', () => ({ ...withCookie(), 'sec-fetch-site': 'cross-site' })],
    ['no same-site request', 403, 'origin_not_allowed', () => ({ ...withCookie(), 'sec-fetch-site': 'same-site' })],
  ];
  test.each(cases)('%s', async (_name, status, code, headers) => {
    for (const path of ['/query', '/execute']) {
      const body = JSON.stringify(path === '/query' ? { type: 'status' } : { type: 'window.create-address' });
      const answer = await send(path, headers(), { body });
      expect([path, answer.status, answer.body.error?.code]).toEqual([path, status, code]);
    }
  });

  test.each(['/events', '/requests.csv', '/requests.jsonl', '/execute', '/nothing'])(
    'nobody to GET %s without a token or from another page',
    async (path) => {
      expect((await send(path, {}, { method: 'GET' })).status).toBe(403);
      const foreign = { cookie, 'sec-fetch-site': 'same-site' };
      expect((await send(path, foreign, { method: 'GET' })).status).toBe(403);
    },
  );

  test('no preflight: no page gets permission of any kind', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const response = await sluice.control('/query', { method: 'OPTIONS', headers });
    expect(response.ok).toBe(false);
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test.each(removedFeatures.flatMap(({ calls = [], ...feature }) => calls.map((call) => ({ call, ...feature }))))(
  'the removed call $call is answered with what to use instead',
  async ({ call, name, instead }) => {
    const headers = { cookie, origin: sluice.origin, 'sec-fetch-site': 'same-origin' };
    const isRoute = call.startsWith('/control');
    const answers = isRoute
      ? [await send(call.slice('/control'.length), headers, { method: 'GET' })]
      : [
          await send('/query', headers, { body: JSON.stringify({ type: call }) }),
          await send('/execute', headers, { body: JSON.stringify({ type: call }) }),
        ];
    for (const { status, body } of answers) {
      expect(status).toBe(isRoute ? 404 : 400);
      expect(body.error?.message).toBe(`Sluice has no ${name} any more: ${instead}.`);
    }
  },
);

describe('the address of the window', () => {
  test('opens it once, by a cookie that scripts cannot read and other sites cannot use', async () => {
    const url = sluice.gateway.createAdminUrl();
    const response = await fetch(url, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    expect(response.headers.get('set-cookie')).toMatch(
      /^sluice-[0-9a-f]{8}=[\w-]{43}; Max-Age=2592000; Path=\/control; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    const again = await fetch(url, { redirect: 'manual' });
    expect(again.status).toBe(403);
    expect(again.headers.get('set-cookie')).toBeNull();
  });

  test('that was used before still leads a browser that is in to the window', async () => {
    const url = sluice.gateway.createAdminUrl();
    await openWindow(url);
    expect((await fetch(url, { redirect: 'manual', headers: { cookie } })).status).toBe(303);
  });

  test.each(['', '?token=', '?token=a&token=b', '?token=%00'])('with "%s" opens nothing', async (query) => {
    expect((await fetch(`${sluice.origin}/control/session${query}`, { redirect: 'manual' })).status).toBe(403);
  });

  test('sends a browser with a used address to the window, which says what to do', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const refused = await fetch(`${sluice.origin}/control/session?token=used`, { redirect: 'manual', headers });
    expect([refused.status, refused.headers.get('location')]).toEqual([303, '/?link=used']);
    expect(refused.headers.get('set-cookie')).toBeNull();
  });

  test('holds neither the admin token nor the cookie', () => {
    const url = sluice.gateway.createAdminUrl();
    expect(url).not.toContain(sluice.adminToken);
    expect(url).not.toContain(cookie.split('=')[1]);
    expect(cookie).not.toContain(sluice.adminToken);
  });

  test('can be had again by a command', async () => {
    const response = await sluice.control('/execute', post({ type: 'window.create-address' }));
    const [name, value] = (await openWindow((await response.json()).result.url)).split('=');
    expect(name).toBe(cookie.split('=')[0]);
    // Each browser has a separate session.
    expect(value).not.toBe(cookie.split('=')[1]);
  });

  test('the admin token lies in a private file', async () => {
    expect((await stat(join(sluice.folder, 'admin.token'))).mode & 0o777).toBe(0o600);
  });
});

describe('a session of the window', () => {
  const fromWindow = (session: string): RequestInit => ({
    headers: { cookie: session, 'sec-fetch-site': 'same-origin', origin: sluice.origin },
  });
  const ask = (session: string, body: object = { type: 'groups' }, path = '/query') => {
    const { headers } = fromWindow(session);
    const init = { ...post(body), headers: { ...headers, 'content-type': 'application/json' } };
    return fetch(`${sluice.origin}/control${path}`, init);
  };

  test('goes on with each use: the browser is told its cookie anew', async () => {
    const answer = await ask(cookie);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toMatch(new RegExp(`^${cookie}; Max-Age=2592000;`));
    const program = await sluice.control('/query', post({ type: 'groups' }));
    expect(program.headers.get('set-cookie')).toBeNull();
  });

  test('signed out everywhere: each browser is out, its stream ends, and no address opens any more', async () => {
    const sessions = [
      await openWindow(sluice.gateway.createAdminUrl()),
      await openWindow(sluice.gateway.createAdminUrl()),
    ];
    const unused = sluice.gateway.createAdminUrl();
    const [mine = '', other = ''] = sessions;
    const stream = await fetch(`${sluice.origin}/control/events`, fromWindow(other));
    const program = await sluice.control('/events');
    const text = begun(stream.text());
    const answer = await ask(mine, { type: 'window.sign-out-everywhere' }, '/execute');
    expect(await answer.json()).toEqual({ result: { ended: expect.any(Number) } });
    expect(await text).toContain('"type":"snapshot"');
    for (const session of [...sessions, cookie]) {
      const refused = await ask(session);
      expect(refused.status).toBe(403);
      expect((await refused.json()).error.message).toContain('not signed in any more');
    }
    expect((await fetch(unused, { redirect: 'manual' })).status).toBe(403);
    // A program with the admin token is not a browser session.
    expect((await sluice.control('/query', post({ type: 'groups' }))).status).toBe(200);
    await program.body?.cancel();
    cookie = await openWindow(sluice.gateway.createAdminUrl());
    expect((await ask(cookie)).status).toBe(200);
  });

  test('holds over a restart of Sluice', async () => {
    const again = await openWindowAccess({ dataDir: sluice.folder, log: { warn() {} } });
    const [name, value = ''] = cookie.split('=');
    expect(again.token.cookieName).toBe(name);
    expect(again.sessions.use(value)).toBe(true);
  });
});
