/** Jobs, which a recording takes through their states. */
import { expect, test } from 'vitest';
import { CassetteSuite } from '../../support/cassette-suite.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { json } from '../../support/upstream.ts';

const suite = new CassetteSuite().use();

test('a job is replayed through its states, and its content byte for byte', async () => {
  const content = Buffer.from([0, 255, 1, 254, 0xc3, 0x28]);
  const states = ['queued', 'in_progress', 'completed'];
  suite.upstream.answer(({ method, url }, response) => {
    if (url.endsWith('/content')) response.writeHead(200, { 'content-type': 'video/mp4' }).end(content);
    else
      json(response, {
        id: 'video_1',
        object: 'video',
        model: 'sora-2',
        status: method === 'POST' ? states[0] : states.shift(),
      });
  });
  const run = async (gateway: TestGateway) => {
    const created = await (
      await gateway.fetch('/videos', {
        method: 'POST',
        body: '{"model":"sora-2","prompt":"A fox"}',
        headers: { 'content-type': 'application/json' },
      })
    ).json();
    const seen = [];
    for (let index = 0; index < 3; index++)
      seen.push((await (await gateway.fetch(`/videos/${created.id}`)).json()).status);
    const bytes = Buffer.from(await (await gateway.fetch(`/videos/${created.id}/content`)).arrayBuffer());
    return { seen, bytes };
  };
  const recorded = await suite.open('record');
  const first = await run(recorded.gateway);
  await recorded.cassette.close();
  expect(first).toEqual({ seen: ['queued', 'in_progress', 'completed'], bytes: content });
  const { gateway } = await suite.open('replay');
  expect(await run(gateway)).toEqual(first);
});
