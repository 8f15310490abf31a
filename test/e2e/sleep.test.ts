/**
 * A machine that sleeps in the middle of requests. SIGSTOP is the closest that a test can get: the program is stopped,
 * its clock continues, and the kernel accepts incoming data.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { onlyIf } from '../support/only-if.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { type Sluice, startSluice } from './sluice.ts';

/** All shorter than the sleep. */
const limitMs = 2_500;
const sleepMs = 5_000;
const env = { SLUICE_KEY: 'any text is a key' };
const policy = {
  retries: 1,
  fallbacks: 1,
  budgetMs: limitMs,
  timeouts: {
    connectMs: limitMs,
    firstByteMs: limitMs,
    firstContentMs: limitMs,
    idleMs: limitMs,
    totalMs: limitMs * 1.5,
  },
};

function serve(providers: { id: string; baseUrl: string }[], more: object = {}): Promise<Sluice> {
  const config = {
    version: 1,
    providers: providers.map((provider) => ({ ...provider, models: ['*'] })),
    groups: [{ id: 'default', policy: { ...policy, ...more } }],
    keys: [{ id: 'k1', group: 'default', secret: 'env:SLUICE_KEY' }],
  };
  return startSluice({ config, env, key: env.SLUICE_KEY });
}

const stops: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const canStop = onlyIf(process.platform !== 'win32', 'processes can be stopped and continued on POSIX systems only');

const piece = (content: string) =>
  `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
const rest = `${piece('world')}data: [DONE]\n\n`;
const whole = { object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }] };

describe.runIf(canStop)('a machine that sleeps for longer than every limit', () => {
  let upstream: ScriptedUpstream;
  let sluice: Sluice;
  /** The latest request for each model. */
  const asked = new Map<string, { response: ServerResponse; socket: Socket }>();
  const wake = () => process.kill(sluice.ready.pid, 'SIGCONT');

  beforeAll(async () => {
    upstream = await startUpstream(({ body }, response, raw) => {
      const model = /"model":"([\w-]+)"/.exec(`${body}`)?.[1] ?? '';
      const isSecond = asked.has(model);
      asked.set(model, { response, socket: raw.socket });
      if (model === 'idle' || isSecond) return json(response, whole);
      if (!`${body}`.includes('"stream":true')) return;
      eventStream(response);
      response.write(piece('Hello '));
    });
    sluice = await serve([{ id: 'main', baseUrl: upstream.baseUrl }]);
  });
  afterAll(async () => {
    await sluice?.remove();
    await upstream?.stop();
  });

  async function ask(model: string, stream = false) {
    const response = await sluice.fetch('/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], ...(stream && { stream }) }),
    });
    const text = await response.text();
    return { status: response.status, text };
  }

  async function rowsByModel() {
    const { requests } = await sluice.query({ type: 'requests' });
    return new Map(requests.map((row) => [row.modelAsked, row]));
  }

  test('continues running requests, and counts the sleep against no provider', async () => {
    await ask('idle');
    const replies = {
      plain: ask('plain'),
      stream: ask('stream', true),
      late: ask('late', true),
      broken: ask('broken'),
      silent: ask('silent'),
    };
    await expect.poll(() => [...asked.keys()].sort()).toEqual(['broken', 'idle', 'late', 'plain', 'silent', 'stream']);

    process.kill(sluice.ready.pid, 'SIGSTOP');
    stops.push(wake);
    const beganAt = performance.now();
    // All of this waits in the kernel until the machine wakes up.
    json(asked.get('plain')?.response as ServerResponse, whole);
    asked.get('stream')?.response.end(rest);
    asked.get('broken')?.socket.destroy();
    asked.get('idle')?.socket.destroy();
    await pass(sleepMs);
    const sleptMs = performance.now() - beganAt;
    wake();
    await pass(limitMs / 5);
    asked.get('late')?.response.end(rest);

    expect(await replies.plain).toEqual({ status: 200, text: JSON.stringify(whole) });
    for (const model of ['stream', 'late'] as const) {
      const { status, text } = await replies[model];
      expect([status, text], model).toEqual([200, piece('Hello ') + rest]);
    }
    expect((await replies.broken).status).toBe(200);
    expect((await replies.silent).status).toBe(504);
    expect((await ask('idle')).status).toBe(200);

    const rows = await rowsByModel();
    for (const model of ['plain', 'stream', 'late']) {
      const row = rows.get(model);
      expect(row, model).toMatchObject({ outcome: 'ok', attempts: [{ failure: null }] });
      expect(row?.totalMs, model).toBeLessThan(sleptMs - 1_000);
    }
    expect(rows.get('broken')?.attempts.map(({ failure }) => failure)).toEqual(['transient', null]);
    expect(rows.get('silent')?.attempts).toMatchObject([{ failure: 'silent' }]);
    const [provider] = await sluice.query({ type: 'providers' });
    expect(provider?.health.models.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(provider?.health.firstByteMs).toBeLessThan(sleptMs / 4);
  });
});

/** Answers with its name, or with a stream in two pieces. Prints its port. */
const frozenProgram = `
  require('node:http').createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => { body += piece; });
    request.on('end', () => {
      if (!body.includes('"stream":true')) return response.setHeader('content-type', 'application/json').end('${JSON.stringify(whole)}');
      response.setHeader('content-type', 'text/event-stream');
      response.write(${JSON.stringify(piece('Hello '))});
      setTimeout(() => response.end(${JSON.stringify(rest)}), 500);
    });
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

describe.runIf(canStop)('an upstream that stands still', () => {
  test('is skipped after its timeout, continues if it wakes in time, and is called again once it answers', {
    timeout: 60_000,
  }, async () => {
    const frozen = spawn(process.execPath, ['-e', frozenProgram], { stdio: ['ignore', 'pipe', 'inherit'] });
    stops.push(() => frozen.kill('SIGKILL'));
    const [port] = await once(frozen.stdout, 'data');
    const other = await startUpstream((_request, response) => json(response, whole));
    const timeouts = { ...policy.timeouts, firstByteMs: 700 };
    const sluice = await serve(
      [
        { id: 'frozen', baseUrl: `http://127.0.0.1:${Number(port)}/v1` },
        { id: 'other', baseUrl: other.baseUrl },
      ],
      { timeouts },
    );
    stops.push(other.stop, sluice.remove);
    const ask = (more: object = {}) =>
      sluice.fetch('/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', messages: [], ...more }),
      });
    const answeredBy = async () => {
      const response = await ask();
      expect(await response.json()).toEqual(whole);
      return response.headers.get('x-sluice-provider');
    };
    expect(await answeredBy()).toBe('frozen');

    const stream = await ask({ stream: true });
    frozen.kill('SIGSTOP');
    await pass(limitMs / 3);
    frozen.kill('SIGCONT');
    expect(await stream.text()).toBe(piece('Hello ') + rest);

    frozen.kill('SIGSTOP');
    expect([await answeredBy(), await answeredBy()]).toEqual(['other', 'other']);
    const [health] = await sluice.query({ type: 'providers' });
    expect(health?.health.models).toMatchObject([{ model: 'any', state: 'cooling', failure: 'silent' }]);
    frozen.kill('SIGCONT');
    await expect.poll(answeredBy, { timeout: 20_000 }).toBe('frozen');
  });
});
