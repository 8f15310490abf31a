import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { eventStream, json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';
import { type Sluice, startSluice } from './sluice.ts';

/** More rounds in `.ci/run` and with `npm run soak -- --kills 100`. */
const rounds = Number(process.env.SLUICE_TEST_KILLS ?? 3);
const roundLimitMs = 30_000;
/** The ledger may lag by this much. */
const lateMs = 100;
const credentials = { c1: 'secret-of-c1', c2: 'secret-of-c2' };

let upstream: ScriptedUpstream;
let sluice: Sluice;
let videosMade = 0;
beforeAll(async () => {
  upstream = await startUpstream(answer);
  sluice = await startSluice();
  await sluice.execute({
    type: 'provider.add',
    id: 'studio',
    provider: { baseUrl: upstream.baseUrl, models: ['*'] },
    credentials: Object.entries(credentials).map(([id, secret]) => ({ id, secret })),
  });
});
afterAll(async () => {
  await sluice?.remove();
  await upstream?.stop();
});

/** What clients and commands were promised before the program was killed. */
interface Promised {
  /**
   * The times of this round's requests, by request id: when the client sent each, and when it had the complete reply.
   */
  finished: Map<string, { askedAt: number; at: number }>;
  videos: string[];
  /** The latest alias that was confirmed as stored; null until there is one. */
  alias: string | null;
}

test('kills under load lose nothing that was confirmed', { timeout: rounds * roundLimitMs }, async () => {
  const promised: Promised = { finished: new Map(), videos: [], alias: null };
  let leftUploads = 0;
  let finished = 0;
  for (let round = 1; round <= rounds; round++) {
    const credential = round % 2 === 0 ? 'c1' : 'c2';
    await switchTo(credential);
    // The uploads of a hundred rounds would take a lot of memory.
    upstream.seen.length = 0;
    const hanging = await startHanging(round);
    const runMs = 250 + Math.random() * 300;
    await loadAndKill(promised, round, runMs);
    const where = `round ${round}, killed after ${Math.round(runMs)} ms`;

    leftUploads += uploads().length;
    expect(JSON.parse(readFileSync(join(sluice.folder, 'instance.json'), 'utf8')).pid, where).toBe(sluice.ready.pid);
    await sluice.start();
    expect(JSON.parse(readFileSync(join(sluice.folder, 'instance.json'), 'utf8')).pid, where).toBe(sluice.ready.pid);
    expect(uploads(), where).toEqual([]);
    await expectConfiguration(promised, where);
    finished += await expectFinished(promised.finished, where);
    promised.finished.clear();
    await expectInterrupted(hanging, where);
    expectConsistentLedger(where);
  }
  // Without real load, the test would show nothing.
  expect(promised.alias).not.toBeNull();
  expect(finished).toBeGreaterThan(rounds * 5);
  expect(leftUploads).toBeGreaterThan(0);
  await expectVideosReachTheirOwner(promised.videos);
  expect(await sluice.end()).toBe(0);
  expect(existsSync(join(sluice.folder, 'instance.json'))).toBe(false);
});

/** Hangs for models with such names, and creates videos whose ids contain the credential that owns them. */
function answer({ method, url, headers, body }: SeenRequest, response: Parameters<typeof json>[0]): void {
  const id = headers.authorization === `Bearer ${credentials.c1}` ? 'c1' : 'c2';
  const isMultipart = /^multipart/.test(headers['content-type'] ?? '');
  const text = body.toString('latin1', 0, 2_000);
  if (url.startsWith('/v1/videos') && method === 'POST') {
    json(response, { id: `video_${id}_${++videosMade}`, object: 'video', status: 'queued' });
  } else if (url.startsWith('/v1/videos')) json(response, { id: url.split('/').at(-1), object: 'video' });
  else if (text.includes('"stream":true')) {
    eventStream(response);
    response.write('data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
  } else if (!isMultipart && !text.includes('"hang-')) json(response, { object: 'chat.completion', choices: [] });
}

async function switchTo(credential: string): Promise<void> {
  for (const id of Object.keys(credentials)) {
    await sluice.execute({ type: 'credential.set', provider: 'studio', id, enabled: id === credential });
  }
}

/**
 * Sends a plain request, a stream and an upload that are never answered. Resolves with their models once all are in
 * progress.
 */
async function startHanging(round: number): Promise<string[]> {
  const models = ['plain', 'stream', 'upload'].map((kind) => `hang-${kind}-${round}`);
  const [plain = '', stream = '', upload = ''] = models;
  const chat = (model: string, more = {}) => post('/chat/completions', { model, messages: [], ...more });
  const form = new FormData();
  form.append('model', upload);
  form.append('file', new File([Buffer.alloc(2_000_000)], 'long.wav'));
  const requests = [
    chat(plain),
    chat(stream, { stream: true }).then((response) => response.text()),
    sluice.fetch('/audio/transcriptions', { method: 'POST', body: form }),
  ];
  for (const request of requests) request.catch(() => {});
  const isUnderWay = (model: string) =>
    upstream.seen.some(({ body }) => body.includes(`"${model}"`) || body.includes(`\n${model}\r`));
  await expect.poll(() => models.filter((model) => !isUnderWay(model)), { timeout: 15_000 }).toEqual([]);
  return models;
}

/** Sends chats, commands and a video concurrently, and kills the program in between. */
async function loadAndKill(promised: Promised, round: number, runMs: number): Promise<void> {
  let isKilled = false;
  const untilKilled = async (work: (number: number) => Promise<void>) => {
    for (let number = 1; !isKilled; number++) {
      await work(number).catch((error: unknown) => {
        if (!isKilled) throw error;
      });
    }
  };
  const chat = async () => {
    const askedAt = performance.now();
    const response = await post('/chat/completions', { model: 'gpt-x', messages: [] });
    await response.text();
    promised.finished.set(response.headers.get('x-sluice-request-id') ?? '', { askedAt, at: performance.now() });
  };
  const command = async (number: number) => {
    const name = `alias-${round}-${number}`;
    await sluice.execute({ type: 'alias.put', alias: { name, targets: [{ provider: 'studio', model: 'gpt-x' }] } });
    promised.alias = name;
  };
  const makeVideo = async () => {
    const { id } = await sluice.client.videos.create({ model: 'film', prompt: 'A cat' });
    promised.videos.push(id);
  };
  const work = [untilKilled(chat), untilKilled(chat), untilKilled(command), untilKilled(makeVideo)];
  await new Promise((resolve) => setTimeout(resolve, runMs));
  // On a busy machine it takes longer until there are records that could be lost.
  await expect.poll(() => promised.finished.size).toBeGreaterThan(15);
  isKilled = true;
  await sluice.end('SIGKILL');
  await Promise.all(work);
}

async function expectConfiguration({ alias }: Promised, where: string): Promise<void> {
  const { config } = await sluice.query({ type: 'config' });
  expect(config.providers[0]?.credentials, where).toHaveLength(2);
  expect(sluice.output.stderr, where).not.toContain('config');
  if (alias === null) return;
  expect(
    config.aliases.map(({ name }) => name),
    where,
  ).toContain(alias);
  expect(await (await sluice.fetch('/models')).text(), where).toContain(alias);
}

/**
 * Resolves with the number of rows that had to exist. If the program accepted a later request more than `lateMs` after
 * a reply, it had enough time to write that reply's row, however busy the machine was.
 */
async function expectFinished(finished: Promised['finished'], where: string): Promise<number> {
  const rows = await everyRow();
  const aliveAt = Math.max(...[...finished.values()].map(({ askedAt }) => askedAt));
  const old = [...finished].filter(([, { at }]) => at < aliveAt - lateMs).map(([id]) => id);
  expect(
    old.filter((id) => rows.get(id) !== 'ok'),
    where,
  ).toEqual([]);
  return old.length;
}

async function everyRow(): Promise<Map<string, string | null>> {
  const text = await (await sluice.control('/requests.jsonl')).text();
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; outcome: string | null });
  return new Map(rows.map(({ id, outcome }) => [id, outcome]));
}

async function expectInterrupted(models: readonly string[], where: string): Promise<void> {
  const { requests } = await sluice.query({ type: 'requests', filter: { outcome: 'interrupted' }, limit: 1000 });
  expect(
    requests.map(({ modelAsked }) => modelAsked),
    where,
  ).toEqual(expect.arrayContaining([...models]));
  const running = await sluice.query({ type: 'requests', filter: { outcome: 'running' } });
  expect(running.requests, where).toEqual([]);
}

/** The file is intact, no row is incomplete, and the sums match the rows. */
function expectConsistentLedger(where: string): void {
  const database = openSqliteDatabase(join(sluice.folder, 'ledger.sqlite'));
  try {
    const one = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0];
    expect(one('PRAGMA integrity_check'), where).toBe('ok');
    const isHalf = "outcome <> 'interrupted' AND (total_ms IS NULL OR bytes_in IS NULL OR usage_certainty IS NULL)";
    expect(one(`SELECT count(*) FROM requests WHERE outcome IS NULL OR (${isHalf})`), where).toBe(0);
    expect(one('SELECT count(*) - count(DISTINCT id) FROM requests'), where).toBe(0);
    const counted = one("SELECT sum(requests) FROM usage_cells WHERE dimension = 'group'");
    expect(counted, where).toBe(one('SELECT count(*) FROM requests WHERE group_id IS NOT NULL'));
  } finally {
    database.close();
  }
}

async function expectVideosReachTheirOwner(videos: readonly string[]): Promise<void> {
  for (const id of Object.keys(credentials)) {
    await sluice.execute({ type: 'credential.set', provider: 'studio', id, enabled: true });
  }
  const owners = new Set<string>();
  for (const id of videos) {
    const owner = id.split('_')[1] ?? '';
    owners.add(owner);
    expect((await sluice.client.videos.retrieve(id)).id).toBe(id);
    const secret = owner === 'c1' ? credentials.c1 : credentials.c2;
    expect(upstream.seen.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
  }
  expect(owners).toEqual(new Set(['c1', 'c2']));
}

function uploads(): string[] {
  return readdirSync(join(sluice.folder, 'tmp')).filter((name) => name !== 'CACHEDIR.TAG');
}

function post(path: string, body: object): Promise<Response> {
  return sluice.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
