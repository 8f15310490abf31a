/** Which recording answers a request. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, CassetteSuite, hello } from '../../support/cassette-suite.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { completion } from '../../support/strict-chat.ts';
import { json } from '../../support/upstream.ts';

const suite = new CassetteSuite().use();

describe('what is compared', () => {
  async function replayOf(recorded: object[], settings: object = {}) {
    let count = 0;
    suite.upstream.answer((_request, response) => json(response, completion({ content: `Answer ${++count}` })));
    writeFileSync(join(suite.folder, 'cassette.json'), JSON.stringify({ version: 1, ...settings }));
    const { cassette, gateway } = await suite.open('record');
    for (const body of recorded) await ask(gateway, body);
    await cassette.close();
    const replay = await suite.open('replay');
    return async (body: object) => {
      const { response, text } = await ask(replay.gateway, body);
      return response.status === 200 ? /Answer \d/.exec(text)?.[0] : response.status;
    };
  }

  test('is neither the order of names, nor the user, the metadata and ids that clients invent', async () => {
    const answer = await replayOf([{ ...hello, user: 'u1', metadata: { user_id: 's1' }, prompt_cache_key: 'c1' }]);
    const { model, messages } = hello;
    expect(await answer({ messages, model, user: 'u2', metadata: { user_id: 's2' }, prompt_cache_key: 'c2' })).toBe(
      'Answer 1',
    );
    expect(await answer({ messages, model })).toBe('Answer 1');
    expect(await answer({ messages, model, temperature: 0 })).toBe(404);
  });

  test('is neither a date nor a UUID in a text, unless there is a recording with the same', async () => {
    const on = (date: string) => ({ ...hello, messages: [{ role: 'user', content: `Today is ${date}.` }] });
    const answer = await replayOf([on('2026-01-01'), on('2026-01-02')]);
    expect(await answer(on('2026-01-02'))).toBe('Answer 2');
    expect(await answer(on('2031-12-24'))).toBe('Answer 1');
    expect(await answer(on('tomorrow'))).toBe(404);
  });

  test('is no UUID after a prefix either, as in the ids of Codex', async () => {
    const sent = (uuid: string) => ({ ...hello, messages: [{ role: 'user', content: 'Hi', id: `msg_${uuid}` }] });
    const answer = await replayOf([sent('44329c01-07fe-58a5-97f2-3ed30c9e40cc')]);
    expect(await answer(sent('10b171bc-788e-5477-a729-fd11c5bdeb06'))).toBe('Answer 1');
    expect(await answer(sent('10b171bc-788e-5477-a729-fd11c5bdeb06f'))).toBe(404);
  });

  test('is configured by cassette.json', async () => {
    const body = (seed: number, id: string, user: string) => ({
      ...hello,
      seed,
      user,
      messages: [{ role: 'user', content: `Run ${id}`, id }],
    });
    const settings = { ignore: ['seed', 'messages.*.id'], ignoreText: ['Run \\d+'], compare: ['user'] };
    const answer = await replayOf([body(1, '17', 'ann')], settings);
    expect(await answer(body(2, '18', 'ann'))).toBe('Answer 1');
    expect(await answer(body(1, '17', 'bob'))).toBe(404);
  });

  test('of a form are its fields and the content of its files, however it is sent', async () => {
    suite.upstream.answer((_request, response) => json(response, { text: 'Hello' }));
    const send = (gateway: TestGateway, content: string) => {
      const body = new FormData();
      body.set('model', 'gpt-x');
      body.set('file', new File([content], 'a.mp3', { type: 'audio/mpeg' }));
      return gateway.fetch('/audio/transcriptions', { method: 'POST', body });
    };
    const recorded = await suite.open('record');
    await (await send(recorded.gateway, 'sound')).text();
    await recorded.cassette.close();
    const { gateway } = await suite.open('replay');
    expect(await (await send(gateway, 'sound')).json()).toEqual({ text: 'Hello' });
    expect((await send(gateway, 'other')).status).toBe(404);
    expect(suite.recordings()[0]?.[1].request.body).toEqual({
      form: [
        { name: 'model', value: 'gpt-x' },
        {
          name: 'file',
          filename: 'a.mp3',
          contentType: 'audio/mpeg',
          bytes: 5,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
    });
  });
});
