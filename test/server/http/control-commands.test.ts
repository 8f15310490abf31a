import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
    // For the window, which translates it.
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
    const deny = Array.from({ length: 200 }, (_, index) => `${index}${'x'.repeat(100)}`);
    const others = Array.from({ length: 400 }, (_, index) => ({ id: `g${index}`, deny }));
    const crowded = await startControlGateway({ config: { groups: [{ id: 'default' }, ...others] } });
    const { port } = new URL(crowded.origin);
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.write(
      `GET /control/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${crowded.adminToken}\r\n\r\n`,
    );
    // Eight megabytes of groups in each event soon exceed the limit on unread data.
    for (let round = 0; round < 4; round++) await crowded.gateway.execute({ type: 'group.remove', id: `g${round}` });
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
