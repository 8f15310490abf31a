/** @suite long */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../server/contract/config.ts';
import { eventually } from '../support/eventually.ts';
import { closedPort, freePort } from '../support/ports.ts';
import { ensureBuilt, startProgram } from '../support/program.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { type Sluice, type SluiceOptions, startSluice } from './sluice.ts';

/** The contract with scripts, verbatim. */
const example = `{ "version": 1,
  "providers": [ { "id": "main", "dialect": "openai", "baseUrl": "http://127.0.0.1:4010/v1",
                   "credentials": [ { "id": "c1", "secret": "env:MAIN_API_KEY" } ],
                   "models": ["gpt-x", "*"], "timeouts": { "connectMs": 5000, "firstByteMs": 60000, "idleMs": 120000 } } ],
  "aliases":   [ { "name": "fast", "targets": [ { "provider": "main", "model": "gpt-x", "priority": 0, "weight": 1 } ] } ],
  "groups":    [ { "id": "default", "models": ["*"], "providers": ["*"] } ],
  "keys":      [ { "id": "k1", "group": "default", "secret": "env:SLUICE_KEY" } ] }
`;
const env = { SLUICE_KEY: 'any text is a key, also with spaces', MAIN_API_KEY: 'upstream-key' };
const key = env.SLUICE_KEY;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
beforeAll(ensureBuilt);

async function upstreamThat(script: Script): Promise<ScriptedUpstream> {
  const upstream = await startUpstream(script);
  stops.push(upstream.stop);
  return upstream;
}

async function start(options: SluiceOptions): Promise<Sluice> {
  const sluice = await startSluice(options);
  stops.push(sluice.remove);
  return sluice;
}

/** Starts Sluice with one group and the key. */
function serve(config: Partial<ConfigInput>): Promise<Sluice> {
  const groups = [{ id: 'default' }];
  const keys = [{ id: 'k1', group: 'default', secret: 'env:SLUICE_KEY' }];
  return start({ config: { version: 1, groups, keys, ...config }, env, key });
}

const says =
  (name: string): Script =>
  (_request, response) =>
    json(response, { object: 'chat.completion', from: name, choices: [] });

function chat(sluice: Sluice, body: string): Promise<Response> {
  return sluice.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}

/** An address on which nothing listens. */
async function deadAddress(): Promise<string> {
  return `http://127.0.0.1:${await closedPort()}/v1`;
}

describe('the example of the documentation', () => {
  test('is served: the alias is spliced, the secrets are those of the environment, and nothing can be changed', async () => {
    const upstream = await upstreamThat(says('main'));
    const sluice = await start({ config: example.replace('http://127.0.0.1:4010/v1', upstream.baseUrl), env, key });
    expect(Object.keys(sluice.ready)).toEqual(['event', 'baseUrl', 'windowUrl', 'pid']);

    const sent = '{ "messages" : [{"role":"user","content":"\\u00fc \\"model\\""}],\n "model":"fast" , "seed": 1.0e2 }';
    expect((await chat(sluice, sent)).status).toBe(200);
    const asked = upstream.seen.at(-1);
    expect(`${asked?.body}`).toBe(sent.replace('"fast"', '"gpt-x"'));
    expect(asked?.headers.authorization).toBe('Bearer upstream-key');
    await chat(sluice, '{"model":"any-other-name","messages":[]}');
    expect(`${upstream.seen.at(-1)?.body}`).toBe('{"model":"any-other-name","messages":[]}');
    expect((await sluice.client.models.list()).data.map(({ id }) => id)).toEqual(['fast', 'gpt-x']);
    expect((await fetch(`${sluice.ready.baseUrl}/models`, { headers: { authorization: 'Bearer any' } })).status).toBe(
      401,
    );

    const { providers } = (await sluice.query({ type: 'config' })).config;
    expect(providers[0]?.timeouts).toEqual({ connectMs: 5000, firstByteMs: 60000, idleMs: 120000 });
    expect(await sluice.query({ type: 'status' })).toMatchObject({ readOnly: true, demoIsRunning: false });
    const body = JSON.stringify({ type: 'provider.set-enabled', id: 'main', enabled: false });
    const refused = await sluice.control('/execute', { method: 'POST', body });
    expect([refused.status, (await refused.json()).error.code]).toEqual([409, 'read_only']);
    const byVerb = await sluice.cli(['provider', 'disable', 'main', '--json']);
    expect(byVerb.code).toBe(1);
    expect(JSON.parse(byVerb.stderr).error).toMatchObject({ code: 'read_only' });
    expect((await chat(sluice, '{"model":"fast"}')).status).toBe(200);
  });
});

test('variables that are not set are reported at the start, and the file is served without them', async () => {
  const upstream = await upstreamThat(says('main'));
  const config = example.replace('http://127.0.0.1:4010/v1', upstream.baseUrl);
  const sluice = await start({ config, env: { SLUICE_KEY: key }, key });
  expect(sluice.output.stderr).toBe('There is no secret for provider/main/c1: env:MAIN_API_KEY holds no value.\n');
  const refused = await chat(sluice, '{"model":"fast"}');
  expect([refused.status, (await refused.json()).error.code]).toEqual([503, 'no_healthy_provider']);
  expect(upstream.seen).toEqual([]);
});

describe('two upstreams', () => {
  test('with the first one refusing connections: the second answers, with its own model name', async () => {
    const second = await upstreamThat(says('second'));
    const targets = [
      { provider: 'first', model: 'model-one' },
      { provider: 'second', model: 'model-two', priority: 1 },
    ];
    const sluice = await serve({
      providers: [
        { id: 'first', baseUrl: await deadAddress(), models: ['model-one'] },
        { id: 'second', baseUrl: second.baseUrl, models: ['model-two'] },
      ],
      aliases: [{ name: 'fast', targets }],
    });
    const response = await chat(sluice, '{"model":"fast","messages":[]}');
    expect(await response.json()).toMatchObject({ from: 'second' });
    expect(`${second.seen[0]?.body}`).toBe('{"model":"model-two","messages":[]}');
    const id = response.headers.get('x-sluice-request-id') ?? '';
    const { request } = await eventually(() => sluice.query({ type: 'request', id }).catch(() => null));
    const attempts = request.attempts.map(({ provider, model, status }) => [provider, model, status]);
    expect(attempts).toEqual([
      ['first', 'model-one', null],
      ['first', 'model-one', null],
      ['second', 'model-two', 200],
    ]);
  });

  test('with the same name: the first is called until it is switched off', async () => {
    const [first, second] = [await upstreamThat(says('first')), await upstreamThat(says('second'))];
    const models = ['gpt-x'];
    const providers = (enabled: boolean) => [
      { id: 'first', baseUrl: first.baseUrl, models, enabled },
      { id: 'second', baseUrl: second.baseUrl, models },
    ];
    for (const [enabled, from] of [
      [true, 'first'],
      [false, 'second'],
    ] as const) {
      const sluice = await serve({ providers: providers(enabled) });
      expect(await (await chat(sluice, '{"model":"gpt-x","messages":[]}')).json()).toMatchObject({ from });
    }
  });
});

describe('an upstream', () => {
  test('that is silent is 504 after its limit, one that is dead 502, one that is switched off 503', async () => {
    const silent = await upstreamThat(() => {});
    const stalls = await upstreamThat((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
    });
    const models = ['m'];
    const sluice = await serve({
      providers: [
        { id: 'silent', baseUrl: silent.baseUrl, models, timeouts: { firstByteMs: 300 } },
        { id: 'stalls', baseUrl: stalls.baseUrl, models, timeouts: { idleMs: 300 } },
        { id: 'dead', baseUrl: await deadAddress(), models },
        { id: 'off', baseUrl: silent.baseUrl, models, enabled: false },
      ],
    });
    const failureOf = async (provider: string) => {
      const response = await chat(sluice, `{"model":"${provider}/m","messages":[]}`);
      const { error } = await response.json();
      return [response.status, error.code, response.headers.get('x-should-retry')];
    };
    expect(await failureOf('silent')).toEqual([504, 'upstream_timeout', null]);
    expect(silent.seen).toHaveLength(1);
    expect(await failureOf('dead')).toEqual([502, 'upstream_unreachable', null]);
    expect(await failureOf('off')).toEqual([503, 'no_healthy_provider', 'false']);
    const stream = sluice.client.chat.completions.stream({ model: 'stalls/m', messages: [] });
    await expect(stream.finalChatCompletion()).rejects.toThrow(/nothing more within 300 ms/);
  });

  test('that is Sluice itself is refused when added, and never called when in a file', async () => {
    const port = await freePort();
    const providers = [{ id: 'self', baseUrl: `http://localhost:${port}/v1`, models: ['*'] }];
    const keys = [{ id: 'k1', group: 'default', secret: 'env:SLUICE_KEY' }];
    const config = { version: 1, providers, groups: [{ id: 'default' }], keys };
    const declared = await start({ config, env, key, port });
    const response = await chat(declared, '{"model":"self/m","messages":[]}');
    expect(response.status).toBe(503);
    expect((await response.json()).error.message).toContain('leads back to Sluice itself');

    const stored = await start({});
    const added = await stored.cli(['provider', 'add', '--url', stored.ready.baseUrl, '--no-credential']);
    expect(added.code).toBe(1);
    expect(added.stderr).toContain('is Sluice itself');
  });

  test('that is a Sluice which calls the first one ends in 508', async () => {
    const first = await start({ env });
    const config = {
      version: 1,
      providers: [
        {
          id: 'back',
          baseUrl: first.ready.baseUrl,
          models: ['*'],
          credentials: [{ id: 'c1', secret: 'env:FIRST_KEY' }],
        },
      ],
      groups: [{ id: 'default' }],
      keys: [{ id: 'k1', group: 'default', secret: 'env:SLUICE_KEY' }],
    };
    const circle = await start({ config, env: { ...env, FIRST_KEY: first.key }, key });
    await first.execute({
      type: 'provider.add',
      id: 'on',
      provider: { baseUrl: circle.ready.baseUrl, models: ['*'] },
      credentials: [{ reference: 'env:SLUICE_KEY' }],
    });
    const response = await chat(first, '{"model":"m","messages":[]}');
    expect([response.status, (await response.json()).error.code]).toEqual([508, 'loop_detected']);
    expect(response.headers.get('x-should-retry')).toBe('false');
  });
});

describe('a file that cannot be used is named with what is wrong and where, and nothing is served:', () => {
  test.each([
    ['no JSON', example.replace('"version": 1,', '"version": 1'), /line 2/],
    ['a field that is not there', example.replace('"weight"', '"wieght"'), /aliases\[0\]\.targets\[0\].*wieght/],
    [
      'a secret in clear',
      example.replace('env:MAIN_API_KEY', 'sk-planted'),
      /providers\[0\]\.credentials\[0\]\.secret/,
    ],
    ['an alias to nowhere', example.replace('"provider": "main"', '"provider": "other"'), /aliases\[0\].*"other"/],
    ['a version of the future', example.replace('"version": 1', '"version": 99'), /99/],
    ['no file', null, /no such file|does not exist|not found/i],
  ])('%s', async (_what, text, problem) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-e2e-'));
    stops.push(async () => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'sluice.json');
    if (text !== null) writeFileSync(file, text);
    const parameters = ['serve', '--json', '--port', '0', '--data-dir', join(folder, 'data'), '--config', file];
    const { ended, output } = startProgram(parameters, { env });
    expect(await ended).toBe(1);
    expect(output.stdout).toBe('');
    const { message } = JSON.parse(output.stderr.trim().split('\n').at(-1) ?? '').error;
    expect(message).toContain(file);
    expect(message).toMatch(problem);
    expect(output.stderr).not.toContain('sk-planted');
  });
});
