/**
 * Replaces replicas of a previous build under load by replicas of this build. No request fails, changes made at one
 * replica are followed by the others, and the ledger agrees with the upstream's records. The previous build is the
 * folder in SLUICE_TEST_PREVIOUS, a checkout in which `npm run build` has run. Without it, this build replaces itself.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KeyView } from '../../server/contract/access-views.ts';
import { eventually } from '../support/eventually.ts';
import { hasNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { freePort } from '../support/ports.ts';
import { hasPostgres, startPostgresInSuite } from '../support/postgres.ts';
import { builtProgram, ensureBuilt, get, type RunningProgram, readyOf, startProgram } from '../support/program.ts';
import { eventStream, json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../support/valkey.ts';

// The constant load of a team: answers, streams, responses, background jobs, uploads. Calls are not retried.

// A provider of a team under load, with a record of its answers and their usage.

interface Book {
  /** Requests that generate something. Polling a result is free. */
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

interface TeamUpstream {
  readonly book: Readonly<Book>;
  readonly baseUrl: string;
  stop: ScriptedUpstream['stop'];
}

/** Long enough for a replica to be stopped in the middle. */
const pieces = 20;
const pieceMs = 50;
const jobMs = 300;

/** The text of each stream. */
const streamedText = Array.from({ length: pieces }, (_, index) => `${index} `).join('');

async function startTeamUpstream(): Promise<TeamUpstream> {
  const book: Book = { requests: 0, inputTokens: 0, outputTokens: 0 };
  const jobs = new Map<string, { endsAt: number; usage: object }>();
  const upstream = await startUpstream(async (request, response) => {
    if (request.method === 'GET') return json(response, look(request.url));
    const number = ++book.requests;
    const [input, output] = [1 + (number % 7), 1 + (number % 5)];
    book.inputTokens += input;
    book.outputTokens += output;
    await sleep(20);
    await answer({ request, number, input, output }, response);
  });
  const look = (url: string) => {
    const id = url.slice(url.lastIndexOf('/') + 1);
    const job = jobs.get(id);
    if (!job || performance.now() < job.endsAt) return responseObject(id, 'in_progress', null);
    return responseObject(id, 'completed', job.usage);
  };
  async function answer({ request: { url, body }, number, input, output }: Asked, response: ServerResponse) {
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    const chatUsage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    if (url.includes('/audio/')) {
      return json(response, { text: `${body.length} bytes`, usage: { type: 'tokens', ...usage } });
    }
    if (url.endsWith('/responses')) {
      const id = `resp_${number}`;
      if (!body.includes('"background":true')) return json(response, responseObject(id, 'completed', usage));
      jobs.set(id, { endsAt: performance.now() + jobMs, usage });
      return json(response, responseObject(id, 'queued', null));
    }
    if (body.includes('"stream":true')) return stream(response, chatUsage);
    const message = { role: 'assistant', content: 'Hi' };
    json(response, { ...chat, choices: [{ index: 0, finish_reason: 'stop', message }], usage: chatUsage });
  }
  return { book, baseUrl: upstream.baseUrl, stop: () => upstream.stop() };
}

interface Asked {
  request: SeenRequest;
  number: number;
  input: number;
  output: number;
}

const chat = { id: 'chatcmpl-1', object: 'chat.completion', model: 'any' };

function responseObject(id: string, status: string, usage: object | null): object {
  return { id, object: 'response', status, model: 'any', output: [], usage };
}

async function stream(response: ServerResponse, usage: object): Promise<void> {
  const event = (more: object) => `data: ${JSON.stringify({ ...chat, object: 'chat.completion.chunk', ...more })}\n\n`;
  eventStream(response);
  for (let piece = 0; piece < pieces; piece++) {
    response.write(event({ choices: [{ index: 0, delta: { content: `${piece} ` }, finish_reason: null }] }));
    await sleep(pieceMs);
  }
  response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  response.end(`${event({ choices: [], usage })}data: [DONE]\n\n`);
}

interface TeamLoad {
  /** Waits until each kind of call has been answered this many more times, or one has failed. */
  answered(times: number): Promise<void>;
  /** The number of answers of each kind. */
  readonly answers: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
  /** Resolves once all calls have ended. A failure also stops the load. */
  stop(): Promise<void>;
}

const callersOfEachKind = 2;
const uploadBytes = 2_000_000;
const question = { model: 'any', messages: [{ role: 'user' as const, content: 'Hi' }], max_tokens: 5 };

/** Each throws if the answer is not complete. */
const kinds: Record<string, (client: OpenAI) => Promise<unknown>> = {
  async answer(client) {
    expectSame((await client.chat.completions.create(question)).choices[0]?.message.content, 'Hi');
  },
  async stream(client) {
    const events = await client.chat.completions.create({
      ...question,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    for await (const { choices } of events) text += choices[0]?.delta.content ?? '';
    expectSame(text, streamedText);
  },
  async response(client) {
    expectSame(
      (await client.responses.create({ model: 'any', input: 'Hi', max_output_tokens: 5 })).status,
      'completed',
    );
  },
  async job(client) {
    const input = { model: 'any', input: 'Hi', max_output_tokens: 5, background: true };
    let job = await client.responses.create(input);
    while (job.status === 'queued' || job.status === 'in_progress') {
      await sleep(50);
      job = await client.responses.retrieve(job.id);
    }
    expectSame(job.status, 'completed');
    // This may reach another replica, which must not bill the job again once it can know that it was billed.
    await sleep(1_000);
    expectSame((await client.responses.retrieve(job.id)).status, 'completed');
  },
  async upload(client) {
    const file = new File([new Uint8Array(uploadBytes)], 'speech.wav');
    const { text } = await client.audio.transcriptions.create({ model: 'any', file });
    if (Number.parseInt(text, 10) < uploadBytes) throw new Error(`of the upload arrived: ${text}`);
  },
};

function startTeamLoad(origin: string, apiKey: string): TeamLoad {
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 });
  const answers: Record<string, number> = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 0]));
  const failures: string[] = [];
  let isOver = false;
  const caller = async (kind: string, call: (client: OpenAI) => Promise<unknown>) => {
    while (!isOver && failures.length === 0) {
      await call(client).then(
        () => (answers[kind] = (answers[kind] ?? 0) + 1),
        (error: unknown) => failures.push(`${kind}: ${error}`),
      );
    }
  };
  const calls = Object.entries(kinds).flatMap(([kind, call]) =>
    Array.from({ length: callersOfEachKind }, () => caller(kind, call)),
  );
  return {
    answers,
    failures,
    async answered(times) {
      const enough = Object.entries(answers).map(([kind, count]) => [kind, count + times] as const);
      await eventually(() => failures.length > 0 || enough.every(([kind, count]) => (answers[kind] ?? 0) >= count));
    },
    async stop() {
      isOver = true;
      await Promise.all(calls);
    },
  };
}

function expectSame(seen: unknown, wanted: string): void {
  if (seen !== wanted) throw new Error(`${JSON.stringify(seen)} in place of ${JSON.stringify(wanted)}`);
}

// Starting whole programs takes time on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const previousProgram = process.env.SLUICE_TEST_PREVIOUS
  ? join(process.env.SLUICE_TEST_PREVIOUS, 'dist/program/cli.js')
  : builtProgram;
const loadKey = 'Load';

interface Replica {
  port: number;
  folder: string;
  program: string;
  running: RunningProgram;
}

describe.runIf(hasPostgres() && hasValkey() && hasNginx())('replicas of a previous build', () => {
  const server = startPostgresInSuite();
  let valkey: ValkeyServer;
  let upstream: TeamUpstream;
  let nginx: Nginx;
  let folder: string;
  let database: string;
  let env: Record<string, string>;
  /** The last one is not started in the beginning. */
  let ports: [number, number, number];
  const replicas = new Map<number, Replica>();

  beforeAll(async () => {
    await ensureBuilt();
    folder = mkdtempSync(join(tmpdir(), 'sluice-update-'));
    upstream = await startTeamUpstream();
    valkey = await startValkey();
    database = await server.createDatabase();
    env = { SLUICE_STORE: database, SLUICE_PASSPHRASE: 'a phrase', UPSTREAM_KEY: 'upstream-key' };
    ports = [await freePort(), await freePort(), await freePort()];
    nginx = await startNginx(ports.map((port) => `127.0.0.1:${port}`));
  });
  afterAll(async () => {
    await nginx.stop();
    for (const { running } of replicas.values()) {
      running.child.kill('SIGKILL');
      await running.ended;
    }
    await Promise.all([upstream.stop(), valkey.stop()]);
    rmSync(folder, { recursive: true });
  });

  async function start(port: number, program: string): Promise<Replica> {
    const at = join(folder, String(port));
    mkdirSync(at, { recursive: true });
    const place = ['--port', String(port), '--data-dir', at, '--shared', valkey.url, '--shutdown-delay', '1'];
    const running = startProgram(['serve', '--json', ...place], { env, program });
    const replica = { port, folder: at, program, running };
    replicas.set(port, replica);
    await readyOf(running);
    return replica;
  }
  async function replace(port: number): Promise<void> {
    const { running } = replicaAt(port);
    running.child.kill('SIGTERM');
    expect(await running.ended, running.output.stderr).toBe(0);
    await start(port, builtProgram);
  }
  function replicaAt(port: number): Replica {
    const found = replicas.get(port);
    if (!found) throw new Error(`No replica was started on ${port}.`);
    return found;
  }
  /** Uses the command line of the replica's own build. */
  async function change({ folder: at, program }: Replica, ...words: string[]): Promise<string> {
    const { ended, output } = startProgram([...words, '--data-dir', at], { env, program });
    expect(await ended, output.stderr).toBe(0);
    return output.stdout;
  }
  async function newKey(replica: Replica, ...words: string[]): Promise<{ id: string; secret: string }> {
    const { secret } = JSON.parse(await change(replica, 'key', 'create', ...words, '--json')) as { secret: string };
    const id = (await keysAt(replica)).find(({ name }) => name !== null && words.includes(name))?.id ?? '';
    return { id, secret };
  }
  const keysAt = async (replica: Replica): Promise<KeyView[]> =>
    JSON.parse(await change(replica, 'key', 'list', '--json')) as KeyView[];
  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(database);
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql);
    await client.end();
    return rows;
  }

  test('are replaced without a failed request, and the ledger agrees with the upstream', async () => {
    const [one, two, three] = ports;
    const first = await start(one, previousProgram);
    await setUp(first);
    const { secret } = await newKey(
      first,
      '--name',
      loadKey,
      '--limit',
      'requests=1000000,tokens=1000000000/total,usd=1000000/total:soft',
    );
    await start(two, previousProgram);
    const load = startTeamLoad(nginx.origin, secret);
    try {
      await load.answered(10);
      await start(three, builtProgram);
      await load.answered(10);
      await changesAreFollowed(replicaAt(two), replicaAt(three));
      await changesAreFollowed(replicaAt(three), replicaAt(two));
      for (const port of [one, two]) {
        await replace(port);
        await load.answered(10);
      }
    } finally {
      await load.stop();
    }
    console.log(`Answered meanwhile: ${JSON.stringify(load.answers)}`);
    expect(load.failures).toEqual([]);
    await booksAgree();
    await budgetsAgree();
  });

  async function setUp(replica: Replica): Promise<void> {
    const provider = ['--no-test', '--url', upstream.baseUrl, '--id', 'main', '--models', 'any'];
    await change(replica, 'provider', 'add', ...provider, '--credential-env', 'UPSTREAM_KEY');
    await change(replica, 'settings', 'set', 'prices', '{"any":{"input":1000,"output":2000}}');
  }

  /** A key created at one replica works at the other, until it is deleted at the first. */
  async function changesAreFollowed(here: Replica, there: Replica): Promise<void> {
    const { id, secret } = await newKey(here, '--name', `Made at ${here.port}`);
    const statusThere = async () => (await get(`http://127.0.0.1:${there.port}/v1/models`, secret)).status;
    await eventually(async () => (await statusThere()) === 200);
    await change(here, 'key', 'revoke', id, '--yes');
    await eventually(async () => (await statusThere()) === 401);
  }

  /** Expects each request that the upstream answered exactly once in the ledger and in its sums. */
  async function booksAgree(): Promise<void> {
    const { requests, inputTokens, outputTokens } = upstream.book;
    const usd = expect.closeTo(inputTokens / 1_000 + outputTokens / 500, 6);
    // The usage of background responses arrives later. Polling them also counts as requests.
    await vi.waitFor(async () => {
      const [rows] = await query(`SELECT sum((method = 'POST')::integer)::integer AS requests,
          sum((usage->>'inputTokens')::integer)::integer AS "inputTokens",
          sum((usage->>'outputTokens')::integer)::integer AS "outputTokens", sum(cost_usd) AS usd
        FROM requests WHERE provider = 'main' AND outcome IS NOT NULL`);
      expect(rows).toEqual({ requests, inputTokens, outputTokens, usd });
    }, 30_000);
    for (const table of ['usage_quarters', 'usage_days']) {
      // In one snapshot, because a job may still be polled.
      const [sums] =
        await query(`SELECT sum(requests)::integer AS requests, sum(input_tokens)::integer AS "inputTokens",
          sum(output_tokens)::integer AS "outputTokens", sum(cost_usd) AS usd,
          (SELECT count(*)::integer FROM requests WHERE provider = 'main' AND outcome IS NOT NULL) AS rows
        FROM ${table} WHERE dimension = 'provider' AND name = 'main'`);
      expect(sums, table).toEqual({ requests: sums?.rows, rows: sums?.rows, inputTokens, outputTokens, usd });
    }
  }

  /** Expects the amounts counted against the budgets of the load's key to agree with the ledger, at each replica. */
  async function budgetsAgree(): Promise<void> {
    const { inputTokens, outputTokens } = upstream.book;
    for (const replica of replicas.values()) {
      await vi.waitFor(async () => {
        const key = (await keysAt(replica)).find(({ name }) => name === loadKey);
        const meters = key?.limitUse.flatMap(({ budget, used }) => (budget ? [[budget.unit, used]] : []));
        expect(Object.fromEntries(meters ?? [])).toEqual({
          tokens: inputTokens + outputTokens,
          usd: expect.closeTo(inputTokens / 1_000 + outputTokens / 500, 6),
        });
      }, 30_000);
    }
  }
});
