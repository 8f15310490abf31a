/** What a cassette never contains. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, CassetteSuite, hello } from '../../support/cassette-suite.ts';
import { hashOf, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion, streamOf } from '../../support/strict-chat.ts';
import { eventStream, json, oddCuts, sendPieces } from '../../support/upstream.ts';

const suite = new CassetteSuite().use();

describe('secrets', () => {
  const planted = 'planted-secret-4711-abcdef';

  /** The contents of all files in suite.folder. */
  const stored = () =>
    readdirSync(suite.folder)
      .filter((name) => name !== 'cassette.json')
      .map((name) => readFileSync(join(suite.folder, name), 'utf8'))
      .join('\n');

  test('of keys, credentials, headers, cookies and URLs are in no file, even where a body repeats them', async () => {
    suite.upstream.answer((_request, response) =>
      json(
        response,
        completion({ content: `Your keys are ${testKey} and upstream-secret, sk-${'a1'.repeat(12)}.` }),
        200,
        {
          'set-cookie': `session=${planted}`,
          'x-request-id': `id-${testKey}`,
        },
      ),
    );
    const { cassette, gateway } = await suite.open('record');
    await gateway.fetch(`/chat/completions?key=${encodeURIComponent(testKey)}&api_key=${planted}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        cookie: `session=${planted}`,
        'x-api-key': planted,
        'openai-beta': `a; Bearer ${planted}`,
      },
      body: JSON.stringify({
        ...hello,
        note: `${testKey} in \u0022quotes\u0022`,
        [`name ${testKey}`]: 'upstream-secret',
      }),
    });
    await cassette.close();
    expect(cassette.summary.recorded).toBe(1);
    for (const secret of [testKey, 'upstream-secret', planted, 'sk-a1a1']) expect(stored()).not.toContain(secret);
    expect(stored()).toContain('Your keys are [redacted] and [redacted], [redacted].');
  });

  test('that a stream spreads over its pieces and its events are removed, and no other text', async () => {
    const halves = (text: string) => [text.slice(0, 5), text.slice(5)].map((content) => ({ content }));
    const text = streamOf([
      { content: 'It is ' },
      ...halves(testKey),
      { content: ' or ' },
      ...halves('order-4711-0815'),
      { content: '.' },
    ]);
    suite.upstream.answer((_request, response) => {
      eventStream(response);
      return sendPieces(response, Buffer.from(text), oddCuts(text.length));
    });
    writeFileSync(join(suite.folder, 'cassette.json'), '{ "version": 1, "redact": ["order-\\\\d+-\\\\d+"] }');
    const recorded = await suite.open('record');
    const { text: live } = await ask(recorded.gateway, { ...hello, stream: true });
    await recorded.cassette.close();
    const { gateway } = await suite.open('replay');
    const { text: replayed } = await ask(gateway, { ...hello, stream: true });
    expect(contentOf(live)).toBe(`It is ${testKey} or order-4711-0815.`);
    expect(contentOf(replayed)).toBe('It is [redacted] or [redacted].');
    expect(stored()).not.toMatch(/key with|4711/);
  });

  function contentOf(stream: string): string {
    const events = stream.split('\n\n').filter((event) => event.startsWith('data: {'));
    return events.map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? '').join('');
  }

  test('a request whose key was removed is found again with another key', async () => {
    suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
    const askWith = (gateway: TestGateway, key: string) =>
      gateway.fetch('/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...hello, note: `my key is ${key}` }),
      });
    const recorded = await suite.open('record');
    await askWith(recorded.gateway, testKey);
    await recorded.cassette.close();
    const otherKey = 'another key of these tests';
    const { gateway } = await suite.open('replay', { keys: [{ id: 'k2', group: 'default', hash: hashOf(otherKey) }] });
    expect((await askWith(gateway, otherKey)).headers.get('x-sluice-replay')).toBe('hit');
  });
});
