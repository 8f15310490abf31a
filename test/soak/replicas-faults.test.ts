/**
 * Two replicas under load while PostgreSQL or Valkey fails. Requests are answered, and afterwards the ledger agrees
 * with the upstream's records.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KeyView } from '../../server/contract/access-views.ts';
import type { LedgerHealthView, StatusView } from '../../server/contract/status-views.ts';
import { runJson, runVerb } from '../server/cli/run-cli.ts';
import { eventually } from '../support/eventually.ts';
import { findPostgres } from '../support/find-servers.ts';
import { type Relay, startRelay } from '../support/ports.ts';
import { hasPostgres, startPostgresInSuite } from '../support/postgres.ts';
import { ensureBuilt, get, type Ready, type RunningProgram, readyOf, startProgram } from '../support/program.ts';
import { fillDisk, holdSmallDisks, makeRoom, mayHoldSmallDisks, type SmallDisks } from '../support/small-disk.ts';
import { eventStream, json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../support/valkey.ts';

// Starting whole programs takes time on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** A fault lasts for this many hundreds of answered requests, which takes longer than any time limit of a statement. */
const hundredsMeanwhile = 20;
const callersPerReplica = 2;
const manyCallers = 32;
const run = promisify(execFile);
const answerMs = 20;
const budgetsSettleMs = 10_000;
const loadKey = 'Load';

interface Call {
  path: string;
  [field: string]: unknown;
}

const messages = [{ role: 'user', content: 'Hi' }];
const calls: [Call, ...Call[]] = [
  { path: '/chat/completions', messages, max_tokens: 5 },
  { path: '/chat/completions', messages, max_tokens: 5, stream: true, stream_options: { include_usage: true } },
  { path: '/responses', input: 'Hi', max_output_tokens: 5 },
];

interface Replica {
  folder: string;
  program: RunningProgram;
  ready: Ready;
}

describe.runIf(hasPostgres() && hasValkey())('two replicas under load', () => {
  const onSmallDisks = mayHoldSmallDisks();
  const server = startPostgresInSuite({ onSmallDisks });
  let valkey: ValkeyServer;
  let relays: { postgres: Relay; valkey: Relay };
  let upstream: ScriptedUpstream;
  /** What the upstream has answered. */
  const book = { requests: 0, inputTokens: 0, outputTokens: 0 };
  let database: string;
  let env: Record<string, string>;
  let folder: string;
  /** The disk of the first replica's data folder. */
  let disk: SmallDisks | null = null;
  let replicas: Replica[];
  let apiKey: string;

  beforeAll(async () => {
    await ensureBuilt();
    folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'));
    if (onSmallDisks) {
      mkdirSync(join(folder, 'one'));
      disk = await holdSmallDisks({ [join(folder, 'one')]: 64 });
    }
    upstream = await startUpstream(answer);
    valkey = await startValkey();
    database = await server.createDatabase();
    const { username, hostname, port, pathname } = new URL(database);
    const socket = `${decodeURIComponent(hostname)}/.s.PGSQL.${port}`;
    relays = { postgres: await startRelay({ path: socket }), valkey: await startRelay({ port: valkey.port }) };
    env = {
      SLUICE_STORE: `postgres://${username}@127.0.0.1:${relays.postgres.port}${pathname}`,
      SLUICE_PASSPHRASE: 'a phrase',
      UPSTREAM_KEY: 'upstream-key',
    };
    replicas = [await start('one')];
    await change(
      'provider',
      'add',
      '--no-test',
      '--url',
      upstream.baseUrl,
      '--id',
      'main',
      '--models',
      'any',
      '--credential-env',
      'UPSTREAM_KEY',
    );
    await change('settings', 'set', 'prices', '{"any":{"input":1000,"output":2000}}');
    apiKey = await newKey('--name', loadKey, '--limit', 'requests=1000000,usd=1000000/total:soft');
    replicas.push(await start('two'));
  });
  afterAll(async () => {
    for (const { program } of replicas) {
      program.child.kill('SIGKILL');
      await program.ended;
    }
    await Promise.all([relays.postgres.stop(), relays.valkey.stop(), upstream.stop(), valkey.stop(), disk?.remove()]);
    rmSync(folder, { recursive: true });
  });

  async function answer({ url, body }: SeenRequest, response: ServerResponse): Promise<void> {
    await sleep(answerMs);
    const number = ++book.requests;
    const [input, output] = [1 + (number % 7), 1 + (number % 5)];
    book.inputTokens += input;
    book.outputTokens += output;
    if (url.endsWith('/responses')) {
      const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
      return json(response, {
        id: `resp_${number}`,
        object: 'response',
        status: 'completed',
        model: 'any',
        output: [],
        usage,
      });
    }
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    const named = { id: 'chatcmpl-1', model: 'any', usage };
    if (body.includes('"stream":true')) {
      const choices = [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }];
      eventStream(response);
      response.end(`data: ${JSON.stringify({ ...named, choices })}\n\ndata: [DONE]\n\n`);
      return;
    }
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }];
    json(response, { ...named, choices });
  }

  const folderOf = (name: string) => (disk && name === 'one' ? disk.seen(join(folder, name)) : join(folder, name));
  async function start(name: string, store = env.SLUICE_STORE ?? ''): Promise<Replica> {
    const at = join(folder, name);
    mkdirSync(at, { recursive: true });
    const shared = ['--shared', `valkey://127.0.0.1:${relays.valkey.port}`];
    const program = startProgram(['serve', '--json', '--port', '0', '--data-dir', at, ...shared], {
      env: { ...env, SLUICE_STORE: store },
      within: name === 'one' ? (disk?.enter ?? []) : [],
    });
    return { folder: folderOf(name), program, ready: await readyOf(program) };
  }
  const atFirst = (words: string[]) => [...words, '--data-dir', folderOf('one')];
  async function change(...words: string[]): Promise<void> {
    const { code, stderr } = await runVerb(atFirst(words), { env });
    expect(code, stderr).toBe(0);
  }
  async function newKey(...words: string[]): Promise<string> {
    const { secret } = (await runJson(atFirst(['key', 'create', ...words]), { env })) as { secret: string };
    return secret;
  }
  const post = ({ ready }: Replica, { path, ...body }: Call, key: string) =>
    fetch(`${ready.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'any', ...body }),
    });
  const chat = (replica: Replica, key: string) => post(replica, calls[0], key);
  const health = async ({ ready }: Replica) => {
    const response = await fetch(new URL('/healthz', ready.baseUrl));
    return (await response.json()) as { ledger: string; sharedCounts: string };
  };
  const allAre = (wanted: Partial<{ ledger: string; sharedCounts: string }>) =>
    eventually(async () => {
      const all = await Promise.all(replicas.map(health));
      return all.every((each) => Object.entries(wanted).every(([name, value]) => each[name as 'ledger'] === value));
    });

  /** Sends requests one after another to each replica until `work` settles. All must be answered. */
  async function underLoad(
    work: (load: { answered(more: number): Promise<unknown> }) => Promise<void>,
    callersEach = callersPerReplica,
  ): Promise<void> {
    let isOver = false;
    let answers = 0;
    const failures: string[] = [];
    const call = async (replica: Replica) => {
      for (let turn = 0; !isOver; turn++) {
        const response = await post(replica, calls[turn % calls.length] ?? calls[0], apiKey);
        const text = await response.text();
        if (response.ok) answers += 1;
        else failures.push(`${response.status} ${text}`);
      }
    };
    const callers = replicas.flatMap((replica) => Array.from({ length: callersEach }, () => call(replica)));
    const answered = (more: number) => {
      const enough = answers + more;
      return eventually(() => answers >= enough || failures.length > 0);
    };
    try {
      await work({ answered });
    } finally {
      isOver = true;
      await Promise.all(callers);
    }
    expect(failures).toEqual([]);
  }

  interface Fault {
    begin(): Promise<unknown> | unknown;
    /** The state that both replicas must then report. */
    shows: Partial<{ ledger: string; sharedCounts: string }>;
    /** Assertions while the load continues. */
    meanwhile?(): Promise<void>;
    end(): Promise<unknown> | unknown;
  }

  async function comesAndGoes({ begin, shows, meanwhile, end }: Fault): Promise<void> {
    await underLoad(async (load) => {
      await load.answered(20);
      await begin();
      try {
        await allAre(shows);
        for (let hundred = 0; hundred < hundredsMeanwhile; hundred++) await load.answered(100);
        await meanwhile?.();
      } finally {
        await end();
      }
      await allAre({ ledger: 'ok', sharedCounts: 'ok' });
      await load.answered(20);
    });
    await booksAgree();
    await budgetsAgree();
    await limitsHold();
  }

  /** Expects each request that the upstream answered exactly once in the ledger and in its sums. */
  async function booksAgree(): Promise<void> {
    await nothingWaits();
    const { requests, inputTokens, outputTokens } = book;
    const usd = inputTokens / 1_000 + outputTokens / 500;
    expect(await rowsAgreeWithSums(database)).toEqual({
      requests,
      inputTokens,
      outputTokens,
      usd: expect.closeTo(usd, 6),
    });
  }
  /** Resolves with the totals of both. */
  async function rowsAgreeWithSums(url: string): Promise<Record<string, unknown> | undefined> {
    const [rows] = await query(
      `SELECT count(*)::integer AS requests, sum((usage->>'inputTokens')::integer)::integer AS "inputTokens",
         sum((usage->>'outputTokens')::integer)::integer AS "outputTokens", sum(cost_usd) AS usd
       FROM (SELECT usage::jsonb AS usage, cost_usd FROM requests WHERE provider = 'main' AND outcome IS NOT NULL) AS main`,
      url,
    );
    const same = { ...rows, usd: expect.closeTo(Number(rows?.usd), 6) };
    for (const table of ['usage_quarters', 'usage_days']) {
      const [sums] = await query(
        `SELECT sum(requests)::integer AS requests, sum(input_tokens)::integer AS "inputTokens",
           sum(output_tokens)::integer AS "outputTokens", sum(cost_usd) AS usd
         FROM ${table} WHERE dimension = 'provider' AND name = 'main'`,
        url,
      );
      expect(sums, table).toEqual(same);
    }
    return rows;
  }
  /**
   * Expects the amount counted against the budget of the load's key to agree soon with the ledger, at both replicas.
   */
  async function budgetsAgree(): Promise<void> {
    const startedAt = performance.now();
    for (const { folder: at } of replicas) {
      const [spent] = await query(
        `SELECT sum(cost_usd) AS usd FROM requests WHERE key_id = (SELECT key_id FROM requests WHERE provider = 'main' ORDER BY seq LIMIT 1)`,
      );
      const used = await eventually(async () => {
        const keys = (await runJson(['key', 'list', '--data-dir', at], { env })) as KeyView[];
        const meter = keys.find(({ name }) => name === loadKey)?.limitUse.find(({ kind }) => kind === 'budget');
        return meter !== undefined && Math.abs(meter.used - Number(spent?.usd)) < 1e-6 && meter.used;
      });
      expect(used).toBeGreaterThan(0);
    }
    expect(performance.now() - startedAt).toBeLessThan(budgetsSettleMs);
  }
  const nothingWaits = () => allLedgers(({ pending }) => pending === 0);
  const everythingIsOnDisk = () => allLedgers(({ pending, spooled }) => spooled === pending);
  const allLedgers = (isAsWanted: (ledger: LedgerHealthView) => boolean) =>
    eventually(async () => {
      const states = await Promise.all(
        replicas.map(({ folder: at }) => runJson(['status', '--data-dir', at], { env }) as Promise<StatusView>),
      );
      return states.every(({ ledger }) => isAsWanted(ledger));
    });
  async function query(sql: string, url = database): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql);
    await client.end();
    return rows;
  }

  /** Expects both replicas together to admit exactly as many requests as a key may send per minute. */
  async function limitsHold(): Promise<void> {
    const key = await newKey('--limit', 'requests=7');
    await known(key);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => chat(replicas[index % 2] as Replica, key)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(13);
  }
  /** Waits until both replicas know the key, with requests that cost nothing. */
  const known = (key: string) =>
    eventually(async () => {
      const replies = await Promise.all(replicas.map((replica) => listModels(replica, key)));
      return replies.every(({ status }) => status === 200);
    });
  const listModels = ({ ready }: Replica, key: string) => get(`${ready.baseUrl}/models`, key);

  async function unknownJobsAreNotServed(): Promise<void> {
    const [first] = replicas;
    const reply = await get(`${first?.ready.baseUrl}/responses/resp_of_long_ago`, apiKey);
    expect(reply.status).toBe(503);
    expect(await reply.json()).toMatchObject({ error: { code: 'storage_unavailable' } });
  }

  async function endInOrderAndByCrash(): Promise<void> {
    const [one, two] = replicas.map(({ program }) => program);
    one?.child.kill('SIGTERM');
    two?.child.kill('SIGKILL');
    expect(await one?.ended).toBe(0);
    expect(one?.output.stderr).toMatch(/The database cannot be written: \d+ requests wait in .*one.waiting-requests/);
    await two?.ended;
  }

  /** The change is too large for the free space in the table's pages. */
  async function changesAreRefused(): Promise<void> {
    const prices = { [randomBytes(50_000).toString('hex')]: { input: 1 } };
    const { code, stderr } = await runVerb(atFirst(['settings', 'set', 'prices', JSON.stringify(prices)]), { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/The configuration cannot be changed now, since the database cannot be written \(.+\)\./);
  }

  describe('serve on and lose nothing while PostgreSQL', () => {
    test('is killed and started again', () =>
      comesAndGoes({
        begin: () => server.kill(),
        shows: { ledger: 'waiting' },
        async meanwhile() {
          await changesAreRefused();
          await unknownJobsAreNotServed();
        },
        end: () => server.start(),
      }));
    test('hangs', () =>
      comesAndGoes({
        begin: () => server.pause(),
        shows: { ledger: 'waiting' },
        end: () => server.go(),
      }));
    test('is unavailable while replicas end, cleanly or by a crash, and start again', async () => {
      await underLoad(async (load) => {
        await load.answered(20);
        await server.kill();
        await allAre({ ledger: 'waiting' });
        await load.answered(50);
      });
      try {
        await everythingIsOnDisk();
        await endInOrderAndByCrash();
      } finally {
        await server.start();
      }
      replicas = [await start('one'), await start('two')];
      await booksAgree();
      await budgetsAgree();
      await limitsHold();
    });
    test('is slow', () =>
      comesAndGoes({
        begin: () => relays.postgres.slow(400),
        shows: { ledger: 'waiting' },
        end: () => relays.postgres.slow(0),
      }));
    test('is read-only', () =>
      comesAndGoes({
        begin: () => setReadOnly('on'),
        shows: { ledger: 'waiting' },
        meanwhile: changesAreRefused,
        end: () => setReadOnly('off'),
      }));
    test.runIf(onSmallDisks)('has no room for its tables', () =>
      comesAndGoes({
        begin: () => server.fillDisk('tables'),
        shows: { ledger: 'waiting' },
        meanwhile: changesAreRefused,
        end: () => server.makeRoom('tables'),
      }),
    );
    // The server exits in this case, and cannot start again before there is room.
    test.runIf(onSmallDisks)('has no room for its log', () =>
      comesAndGoes({
        begin: () => server.fillDisk('log'),
        shows: { ledger: 'waiting' },
        meanwhile: changesAreRefused,
        end: () => server.makeRoom('log'),
      }),
    );
  });

  test('a backup taken under load is complete, and replicas serve from the restored database', async () => {
    const [backup, programs] = [join(folder, 'backup'), findPostgres() ?? ''];
    await underLoad(async (load) => {
      await load.answered(200);
      await run(join(programs, 'pg_dump'), ['--format=custom', `--file=${backup}`, database]);
      await load.answered(200);
    });
    const restored = await server.createDatabase();
    await run(join(programs, 'pg_restore'), ['--exit-on-error', `--dbname=${restored}`, backup]);
    const before = await rowsAgreeWithSums(restored);
    expect(before?.requests).toBeGreaterThan(100);
    expect(before?.requests).toBeLessThan(book.requests);
    const replica = await start('restored', restored);
    const reply = await chat(replica, apiKey);
    replica.program.child.kill('SIGTERM');
    await replica.program.ended;
    expect(reply.status).toBe(200);
    const after = await rowsAgreeWithSums(restored);
    expect(after?.requests).toBe(Number(before?.requests) + 1);
    // These requests were answered for the other database.
    Object.assign(book, await rowsAgreeWithSums(database));
  });

  async function setReadOnly(value: 'on' | 'off'): Promise<void> {
    await server.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await server.query('SELECT pg_reload_conf()');
  }

  describe('serve on, and count together again, while Valkey', () => {
    test('is killed and comes back empty', () =>
      comesAndGoes({
        begin: () => valkey.kill(),
        shows: { sharedCounts: 'away' },
        meanwhile: hardBudgetsAreClosed,
        end: () => valkey.start(),
      }));
    test('hangs', () =>
      comesAndGoes({
        begin: () => valkey.pause(),
        shows: { sharedCounts: 'away' },
        end: () => valkey.go(),
      }));
    test('is cut off', () =>
      comesAndGoes({
        begin: () => relays.valkey.cut(),
        shows: { sharedCounts: 'away' },
        end: () => relays.valkey.mend(),
      }));
    test('is slow', () =>
      comesAndGoes({
        begin: () => relays.valkey.slow(1_500),
        shows: { sharedCounts: 'away' },
        end: () => relays.valkey.slow(0),
      }));
    test('is read-only', () =>
      comesAndGoes({
        begin: () => valkey.command('REPLICAOF', '127.0.0.1', '1'),
        shows: { sharedCounts: 'away' },
        end: () => valkey.command('REPLICAOF', 'NO', 'ONE'),
      }));
    test('is out of memory', () =>
      comesAndGoes({
        begin: () => valkey.command('CONFIG', 'SET', 'maxmemory', '1'),
        shows: { sharedCounts: 'away' },
        end: () => valkey.command('CONFIG', 'SET', 'maxmemory', '0'),
      }));
  });

  // Must be the last test, because lost requests are reported until the replica ends.
  test.runIf(onSmallDisks)(
    'what fits neither on a replica’s disk nor into its memory is counted and reported',
    async () => {
      const [first] = replicas;
      if (!first) throw new Error('There are two.');
      fillDisk(first.folder);
      const ledgerOf = async () => ((await runJson(atFirst(['status']), { env })) as StatusView).ledger;
      await underLoad(async (load) => {
        await server.kill();
        await allAre({ ledger: 'waiting' });
        while ((await ledgerOf()).dropped < 1_000) await load.answered(500);
      }, manyCallers);
      expect(await ledgerOf()).toMatchObject({ ok: false, spooled: 0 });
      makeRoom(first.folder);
      await server.start();
      await nothingWaits();
      expect((await health(first)).ledger).toBe('incomplete');
      const { dropped } = await ledgerOf();
      const rows = await rowsAgreeWithSums(database);
      const missing = book.requests - Number(rows?.requests);
      console.log(`${missing} of ${book.requests} requests are missing, ${dropped} rows are told to be lost.`);
      expect(missing).toBeGreaterThan(0);
      // The beginning and the end of a long request are one row each.
      expect(dropped).toBeGreaterThanOrEqual(missing);
      Object.assign(book, rows);
    },
  );

  async function hardBudgetsAreClosed(): Promise<void> {
    const key = await newKey('--limit', 'usd=5/day');
    await known(key);
    const replies = await Promise.all(replicas.map((replica) => chat(replica, key)));
    for (const reply of replies) expect(reply.status).toBe(503);
    expect(await replies[0]?.json()).toMatchObject({ error: { code: 'shared_counts_unavailable' } });
  }
});
