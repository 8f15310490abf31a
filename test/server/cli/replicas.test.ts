/** A team's gateway as it is deployed: replicas of one database behind the nginx of `build/deploy`. */
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hasNginx, type Nginx, startNginx } from '../../support/nginx.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { endProgramsAfterEach, runJson, type Serving, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();
// Whole programs are started here; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describe.runIf(hasPostgres() && hasNginx())('three replicas behind nginx', () => {
  let server: PostgresServer;
  let store: string;
  let replicas: Serving[];
  let nginx: Nginx;
  let client: OpenAI;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    store = await server.createDatabase();
    const first = await replica();
    replicas = [first, ...(await Promise.all([replica(), replica()]))];
    nginx = await startNginx(replicas.map(({ ready }) => new URL(ready.baseUrl).host));
    client = new OpenAI({ baseURL: `${nginx.origin}/v1`, apiKey: first.ready.key ?? '', maxRetries: 0 });
  });
  afterEach(() => nginx.stop());

  const replica = (...parameters: string[]) => serve(temporaryFolder(), ['--store', store, ...parameters]);
  const ask = () => client.chat.completions.create({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hi' }] });
  const recorded = async () => {
    const folder = temporaryFolder();
    return (await runJson(['usage', '--data-dir', folder], { env: { SLUICE_STORE: store } })) as { requests: number };
  };

  test('serve chat, streams, embeddings, images, speech and uploads', async () => {
    const said = await ask();
    expect(said.choices[0]?.message.content).toContain('Hi');
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const events = await client.chat.completions.create({ model: 'demo-chat', stream: true, messages });
    let text = '';
    for await (const { choices } of events) text += choices[0]?.delta.content ?? '';
    expect(text).toBe(said.choices[0]?.message.content);
    const { data } = await client.embeddings.create({ model: 'demo-embedding', input: 'Hi' });
    expect(data).toHaveLength(1);
    const file = new File([new Uint8Array(3_000_000)], 'speech.wav');
    expect((await client.audio.transcriptions.create({ model: 'demo-transcription', file })).text).not.toBe('');
  });

  test('follow a job that one of them made at the others', async () => {
    const video = await client.videos.create({ model: 'demo-video', prompt: 'A gate' });
    for (const { ready } of replicas) {
      const there = new OpenAI({ baseURL: ready.baseUrl, apiKey: client.apiKey, maxRetries: 0 });
      expect((await there.videos.retrieve(video.id)).id).toBe(video.id);
    }
  });
});
