/** A team's gateway as it is deployed: replicas with one database behind the nginx of `build/deploy`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hasNginx, type Nginx, startNginx } from '../../support/nginx.ts';
import { freePort } from '../../support/ports.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { ensureBuilt, type Ready, type RunningProgram, readyOf, startProgram } from '../../support/program.ts';
import { eventStream, json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';
import { addProvider, createKey, runJson, runVerb } from './run-cli.ts';

// Starting whole programs takes time on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** More in `.ci/run`. */
const kills = Number(process.env.SLUICE_TEST_KILLS ?? 1);
const callers = 8;

interface Replica {
  port: number;
  folder: string;
  program: RunningProgram;
  ready: Ready;
}

describe.runIf(hasPostgres() && hasNginx())('three replicas behind nginx', () => {
  const server = startPostgresInSuite();
  let upstream: ScriptedUpstream;
  let env: Record<string, string>;
  let replicas: Replica[];
  let nginx: Nginx;
  let apiKey: string;
  let folder: string;
  beforeAll(async () => {
    await ensureBuilt();
    folder = mkdtempSync(join(tmpdir(), 'sluice-replicas-'));
    upstream = await startUpstream(answer);
    env = { SLUICE_STORE: await server.createDatabase(), SLUICE_PASSPHRASE: 'a phrase', UPSTREAM_KEY: 'upstream-key' };
    const first = await newReplica();
    apiKey = await createKey(first.folder);
    await addProvider(first.folder, { url: upstream.baseUrl, models: '*', env });
    replicas = [first, ...(await Promise.all([newReplica(), newReplica()]))];
    nginx = await startNginx(replicas.map(({ port }) => `127.0.0.1:${port}`));
  });
  afterAll(async () => {
    await nginx?.stop();
    await Promise.all(replicas.map((replica) => end(replica, 'SIGKILL')));
    await upstream.stop();
    rmSync(folder, { recursive: true });
  });

  async function newReplica(): Promise<Replica> {
    const port = await freePort();
    const replica = { port, folder: join(folder, String(port)) };
    mkdirSync(replica.folder);
    return { ...replica, ...(await start(replica)) };
  }
  async function start({ port, folder }: Pick<Replica, 'port' | 'folder'>) {
    const place = ['--port', String(port), '--data-dir', folder, '--shutdown-delay', '1'];
    const program = startProgram(['serve', '--json', ...place], { env });
    return { program, ready: await readyOf(program) };
  }
  function end({ program }: Replica, signal: NodeJS.Signals): Promise<number | null> {
    program.child.kill(signal);
    return program.ended;
  }
  const clientAt = (origin: string, maxRetries = 0) => new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries });

  test('serve whole answers, streams, embeddings and uploads', async () => {
    const client = clientAt(nginx.origin);
    expect((await chat(client)).choices[0]?.message.content).toBe('Hi');
    const stream = await client.chat.completions.create({ ...question, stream: true });
    let text = '';
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    expect(text).toBe('Hi there');
    expect((await client.embeddings.create({ model: 'any', input: 'Hi' })).data).toHaveLength(1);
    const file = new File([new Uint8Array(3_000_000)], 'speech.wav');
    expect((await client.audio.transcriptions.create({ model: 'any', file })).text).toBe('3000000 bytes and more');
  });

  test('find at each of them a job that one has created', async () => {
    const made = await clientAt(nginx.origin).videos.create({ model: 'any', prompt: 'A sluice' });
    for (const { port } of replicas) {
      const there = clientAt(`http://127.0.0.1:${port}`);
      expect((await there.videos.retrieve(made.id)).status, String(port)).toBe('completed');
    }
  });

  test('answer clients that retry, and count nothing twice, while replicas are killed', async () => {
    const load = startLoad(clientAt(nginx.origin, 6));
    for (let killed = 0; killed < kills; killed++) {
      await load.answered(20);
      const victim = replicas[killed % replicas.length] as Replica;
      await end(victim, 'SIGKILL');
      await load.answered(20);
      Object.assign(victim, await start(victim));
    }
    const { answers, failures } = await load.stop();
    expect(failures).toEqual([]);
    const rows = await wholeLog();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    const usage = (await runJson(['usage', '--by', 'provider', '--data-dir', join(folder, 'verbs')], {
      env,
    })) as Usage[];
    const asked = rows.filter(({ provider }) => provider === 'main').length;
    expect(usage.find(({ name }) => name === 'main')?.requests).toBe(asked);
    expect(asked).toBeLessThanOrEqual(upstream.seen.length);
    // A killed replica loses what it has not written yet: requests in progress, and those of the last quarter-second.
    expect(asked).toBeGreaterThan(answers * 0.8);
  });

  test('fail no request while they are replaced one by one', async () => {
    const before = (await wholeLog()).length;
    const load = startLoad(clientAt(nginx.origin));
    for (const replica of replicas) {
      await load.answered(30);
      expect(await end(replica, 'SIGTERM')).toBe(0);
      await load.answered(30);
      Object.assign(replica, await start(replica));
    }
    const { answers, failures } = await load.stop();
    expect(failures).toEqual([]);
    const added = (await wholeLog()).slice(before);
    expect(added.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(answers);
  });

  /** All requests, oldest first, once each replica has written its own. */
  async function wholeLog(): Promise<LogLine[]> {
    const last = await Promise.all(
      replicas.map(async ({ port }) => {
        const { response } = await clientAt(`http://127.0.0.1:${port}`).models.list().withResponse();
        return response.headers.get('x-sluice-request-id');
      }),
    );
    return eventually(async () => {
      const { stdout } = await runVerb(['log', '--export', 'jsonl', '--data-dir', join(folder, 'verbs')], { env });
      const rows = stdout.split('\n').filter((line) => line !== '');
      return last.every((id) => stdout.includes(String(id))) && rows.map((line): LogLine => JSON.parse(line)).reverse();
    });
  }
});

interface LogLine {
  id: string;
  status: number | null;
  provider: string | null;
}

interface Usage {
  name: string | null;
  requests: number;
}

const question = { model: 'any', messages: [{ role: 'user' as const, content: 'Hi' }] };
const chat = (client: OpenAI) => client.chat.completions.create(question);

/** Callers that send one request after another until they are stopped. */
function startLoad(client: OpenAI) {
  let isOver = false;
  let answers = 0;
  const failures: string[] = [];
  let heard = () => {};
  const call = async () => {
    while (!isOver && failures.length === 0) {
      await chat(client).then(
        () => answers++,
        (error: unknown) => failures.push(String(error)),
      );
      heard();
    }
  };
  const calls = Promise.all(Array.from({ length: callers }, call));
  return {
    /** Waits for this many more answers, or a failure. */
    async answered(count: number) {
      const enough = answers + count;
      await new Promise<void>((resolve) => {
        heard = () => {
          if (answers >= enough || failures.length > 0) resolve();
        };
        heard();
      });
    },
    async stop() {
      isOver = true;
      await calls;
      return { answers, failures };
    },
  };
}

function answer({ url, body }: SeenRequest, response: ServerResponse): void {
  const path = url.slice(url.indexOf('/v1') + 3);
  if (body.includes('"stream":true')) stream(response);
  else json(response, wholeAnswer(path, body));
}

function wholeAnswer(path: string, body: Buffer): object {
  if (path.startsWith('/videos')) return { id: 'video_1', object: 'video', status: 'completed' };
  if (path === '/embeddings') return { object: 'list', data: [{ embedding: [0], index: 0 }] };
  if (path.startsWith('/audio')) return { text: body.length > 3_000_000 ? '3000000 bytes and more' : 'less' };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }];
  return { id: 'chatcmpl-1', object: 'chat.completion', model: 'any', choices, usage };
}

function stream(response: ServerResponse): void {
  eventStream(response);
  for (const content of ['Hi', ' there']) response.write(event({ index: 0, delta: { content }, finish_reason: null }));
  response.end(`${event({ index: 0, delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
}

const event = (choice: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'any', choices: [choice] })}\n\n`;
