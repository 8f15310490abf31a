import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWindowAccess } from '../../../server/control/window-access.ts';
import { begun } from '../../support/begun.ts';
import { type ControlGateway, startControlGateway } from '../control/control-gateway.ts';

let sluice: ControlGateway;
let cookie: string;
beforeAll(async () => {
  sluice = await startControlGateway();
  cookie = await openWindow(sluice.gateway.createAdminUrl());
});
afterAll(() => sluice.stop());

/** Follows a printed address as a browser does; the cookie it gets. */
async function openWindow(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual' });
  expect(response.status).toBe(303);
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** Unlike fetch, lets a test choose Host, Origin and the headers that browsers set themselves. */
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

  test.each(['/events', '/requests.csv', '/requests.jsonl', '/dataset.jsonl', '/execute', '/nothing'])(
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
    // Each browser has a session of its own.
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
    // Who has the admin token is no browser.
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

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

describe('commands and queries', () => {
  test('are answered as tagged values that nobody may store', async () => {
    const response = await sluice.control('/query', post({ type: 'groups' }));
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({ result: [expect.objectContaining({ id: 'default', keyCount: 1 })] });
  });

  const refusals: [string, number, string | null, string, RequestInit][] = [
    ['a command that is refused', 409, 'conflict', '/execute', post({ type: 'group.remove', id: 'default' })],
    ['one that is not understood', 400, 'invalid_command', '/execute', post({ type: 'nope' })],
    ['an unknown thing', 404, 'not_found', '/execute', post({ type: 'key.revoke', id: 'nope' })],
    ['broken JSON', 400, null, '/execute', post('{"type":')],
    ['a bare value', 400, null, '/query', post('"status"')],
    [
      'another content type',
      415,
      'unsupported_content_type',
      '/query',
      { ...post('{}'), headers: { 'content-type': 'text/plain' } },
    ],
    ['too large a body', 413, 'request_too_large', '/execute', post({ type: 'x'.repeat(1024 * 1024) })],
    ['an unknown filter', 400, 'invalid_command', '/requests.csv?colour=red', {}],
    ['an unknown path', 404, 'unknown_url', '/nothing', {}],
  ];
  test.each(refusals)('%s gets an error in the usual shape', async (_name, status, code, path, init) => {
    const response = await sluice.control(path, init);
    expect(response.status).toBe(status);
    const { problem, ...usual } = (await response.json()).error;
    expect(usual).toEqual({
      ...{ message: expect.any(String), type: 'invalid_request_error' },
      ...{ param: expect.toSatisfy(isParam), code },
    });
    // For the window, in its own language.
    expect(problem === undefined || typeof problem.code === 'string').toBe(true);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
  const isParam = (param: unknown) => param === null || typeof param === 'string';

  test('the ledger is exported as CSV and JSON lines, filtered', async () => {
    await sluice.client.models.list();
    await sluice.client.chat.completions.create({ model: 'demo-chat', messages: [{ role: 'user', content: 'hi' }] });
    const csv = await sluice.control('/requests.csv?model=demo-chat');
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="requests.csv"');
    expect((await csv.text()).trim().split('\r\n')).toHaveLength(2);
    const lines = await (await sluice.control('/requests.jsonl?outcome=ok&sinceMs=1')).text();
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).modelAsked),
    ).toContain('demo-chat');
    expect(await (await sluice.control('/requests.jsonl?untilMs=1')).text()).toBe('');
  });
});

describe('the event stream', () => {
  test('sends the snapshot, then what changes; a new connection begins anew', async () => {
    const first = await openEvents();
    const snapshot = await first.next();
    expect(snapshot.event).toMatchObject({ type: 'snapshot', groups: [{ id: 'default' }] });
    await sluice.gateway.execute({ type: 'group.put', group: { id: 'extra' } });
    const change = await first.next();
    expect(change).toMatchObject({ revision: snapshot.revision + 1, event: { type: 'config-changed' } });
    await first.leave();
    await sluice.gateway.execute({ type: 'group.remove', id: 'extra' });
    const second = await openEvents();
    expect((await second.next()).event).toMatchObject({ type: 'snapshot', groups: [{ id: 'default' }] });
    await second.leave();
  });

  test('works with the cookie from our own page', async () => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const answer = await fetch(`${sluice.origin}/control/events`, { headers });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    await answer.body?.cancel();
  });

  test('cuts off a reader that does not read', async () => {
    const name = 'x'.repeat(200);
    const keys = Array.from({ length: 20_000 }, (_, index) => ({
      ...{ id: `k${index}`, name, group: 'default', hash: `sha256:${String(index).padStart(64, '0')}` },
    }));
    const crowded = await startControlGateway({ config: { keys } });
    const { port } = new URL(crowded.origin);
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.write(
      `GET /control/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${crowded.adminToken}\r\n\r\n`,
    );
    // The whole list of keys each time: soon more than anybody may leave unread.
    for (let round = 0; round < 4; round++) await crowded.gateway.execute({ type: 'key.revoke', id: `k${round}` });
    socket.resume();
    await closed;
    await crowded.stop();
  });

  test('ends when Sluice is stopped, which does not wait for it', async () => {
    const other = await startControlGateway();
    const response = await other.control('/events');
    const text = begun(response.text());
    const startedMs = performance.now();
    await other.gateway.stop(60_000);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect(await text).toContain('"type":"snapshot"');
    await other.stop();
  });

  async function openEvents() {
    const response = await sluice.control('/events');
    const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    return {
      async next() {
        for (;;) {
          const end = text.indexOf('\n\n');
          if (end === -1) {
            text += (await reader.read()).value ?? '';
            continue;
          }
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (data) return JSON.parse(data);
        }
      },
      leave: () => reader.cancel(),
    };
  }
});
