import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const secretOf = (group: string) => `sk-key-of-${group}-0123456789`;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, { id: 'video_1' }));
  const groups = [
    {
      id: 'set',
      defaults: {
        images: 'image-model',
        videos: 'film',
        moderations: 'two/judge',
        responses: 'thinker',
        transcription: 'unused',
      },
    },
    { id: 'single', providers: ['one'] },
    { id: 'unset' },
    { id: 'wrong', defaults: { images: 'not-there' }, models: ['image-model'] },
  ];
  gateway = await startGateway({
    config: {
      providers: [
        { id: 'one', baseUrl: `${upstream.origin}/one`, models: ['image-model', 'thinker', 'unused'] },
        { id: 'two', baseUrl: `${upstream.origin}/two`, models: ['video-model', 'judge'] },
      ],
      aliases: [{ name: 'film', targets: [{ provider: 'two', model: 'video-model' }] }],
      groups,
      keys: [
        ...groups.map(({ id }) => ({ id: `key-${id}`, group: id, hash: hashOf(secretOf(id)) })),
        { id: 'key-limited', group: 'single', hash: hashOf(secretOf('limited')), models: ['image-*'] },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

/** Resolves with the URL and the body that reached the upstream, or with the code of the refusal. */
async function ask(group: string, path: string, body: BodyInit): Promise<string> {
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretOf(group)}` },
    body,
  });
  const reply = (await response.json()) as { error?: { code: string | null } };
  if (reply.error) return `${response.status} ${reply.error.code}`;
  return `${upstream.seen.at(-1)?.url} ${upstream.seen.at(-1)?.body.toString()}`;
}

describe('a request that names no model', () => {
  test('gets the default of its group for what it asks', async () => {
    expect(await ask('set', '/images/generations', '{"prompt":"x"}')).toBe(
      '/one/images/generations {"model":"image-model","prompt":"x"}',
    );
    expect(await ask('set', '/videos', '{"prompt":"x"}')).toBe('/two/videos {"model":"video-model","prompt":"x"}');
    expect(await ask('set', '/moderations', ' { } ')).toBe('/two/moderations  {"model":"judge" } ');
    expect(await ask('set', '/responses', '{"model":null,"input":"x"}')).toBe(
      '/one/responses {"model":"thinker","input":"x"}',
    );
  });

  test('gets it in a form too', async () => {
    const form = new FormData();
    form.set('prompt', 'A cat');
    form.set('image', new Blob(['png']), 'a.png');
    const arrived = await ask('set', '/images/edits', form);
    expect(arrived).toMatch(/^\/one\/images\/edits /);
    expect(arrived).toMatch(/name="model"\r\n\r\nimage-model\r\n/);
    expect(arrived.indexOf('name="model"')).toBeLessThan(arrived.indexOf('filename="a.png"'));
  });

  test('gets the only provider of its group as it is', async () => {
    expect(await ask('single', '/moderations', '{"input":"x"}')).toBe('/one/moderations {"input":"x"}');
    expect(await ask('single', '/videos', '{"prompt":"x"}')).toBe('/one/videos {"prompt":"x"}');
  });

  test('is refused where there is no telling', async () => {
    expect(await ask('unset', '/images/generations', '{"prompt":"x"}')).toBe('400 null');
    expect(await ask('wrong', '/images/generations', '{"prompt":"x"}')).toBe('404 model_not_found');
  });

  test('is refused where the key may not use any model', async () => {
    expect(await ask('limited', '/moderations', '{"input":"x"}')).toBe('400 null');
  });

  test.each(['/chat/completions', '/completions', '/embeddings', '/audio/speech'])(
    'is refused where a model is required: %s',
    async (path) => {
      expect(await ask('single', path, '{"input":"x"}')).toBe('400 null');
    },
  );

  test('is refused for a transcription, whatever the group’s default says', async () => {
    const form = new FormData();
    form.set('file', new Blob(['RIFF']), 'a.wav');
    expect(await ask('set', '/audio/transcriptions', form)).toBe('400 null');
  });
});
