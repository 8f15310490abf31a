import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { detectLocal } from '../../../server/providers/detect-local.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import { closedPort } from '../../support/ports.ts';
import { json, type Script, startUpstream } from '../../support/upstream.ts';
import { listenRaw } from '../transport/harness.ts';

const transport = createTransport();
const stopping: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(stopping.splice(0).map((one) => one.stop()));
});
afterAll(() => transport.close());

async function serve(script: Script): Promise<number> {
  const upstream = await startUpstream(script);
  stopping.push(upstream);
  return Number(new URL(upstream.origin).port);
}

function models(ownedBy: string | undefined, headers = {}): Script {
  return (request, response) => {
    if (request.url === '/v1/models')
      json(response, { data: [{ id: 'm1', owned_by: ownedBy }, { id: 'm2' }] }, 200, headers);
    else json(response, {}, 404);
  };
}

const ollama: Script = (request, response) => {
  if (request.url === '/api/version') json(response, { version: '0.13.0' });
  else json(response, { data: [{ id: 'llama3:latest', owned_by: 'library' }] });
};

async function detect(port: number, ...usual: string[]) {
  const expected = usual.map((preset) => ({ port, preset }));
  const found = await detectLocal({ transport, ownPorts: new Set(), expected });
  return found[0];
}

describe('a local server', () => {
  test('is found with its models', async () => {
    const port = await serve(models('organization_owner'));
    expect(await detect(port, 'lm-studio')).toEqual({
      preset: 'lm-studio',
      name: 'LM Studio',
      baseUrl: `http://127.0.0.1:${port}/v1`,
      needsCredential: false,
      models: ['m1', 'm2'],
    });
  });

  test.each<[string, Script, string[], string]>([
    ['llama.cpp by the owner of its models', models('llamacpp'), ['llama-cpp', 'localai'], 'llama-cpp'],
    [
      'llama.cpp by its server header',
      models(undefined, { server: 'llama.cpp' }),
      ['llama-cpp', 'localai'],
      'llama-cpp',
    ],
    ['LocalAI on the port of both', models(undefined), ['llama-cpp', 'localai'], 'localai'],
    ['vLLM on another’s port', models('vllm'), ['llama-cpp', 'localai'], 'vllm'],
    ['Ollama by its own API', ollama, ['ollama'], 'ollama'],
    ['Ollama on another’s port', ollama, ['vllm'], 'ollama'],
    ['what is not Ollama on its port', models('someone'), ['ollama'], 'custom'],
    ['Jan, which runs llama.cpp inside', models('llamacpp', { server: 'llama.cpp' }), ['jan'], 'jan'],
  ])('is told apart: %s', async (_what, script, usual, expected) => {
    expect((await detect(await serve(script), ...usual))?.preset).toBe(expected);
  });

  test('that wants a credential is found without its models', async () => {
    const port = await serve((_request, response) => json(response, { error: 'no key' }, 401));
    expect(await detect(port, 'jan')).toMatchObject({ preset: 'jan', needsCredential: true, models: [] });
  });
});

describe('nothing is found', () => {
  test('where nobody listens', async () => {
    expect(await detect(await closedPort(), 'ollama')).toBeUndefined();
  });

  test.each<[string, Script]>([
    [
      'a web page',
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>') && undefined,
    ],
    ['other JSON', (_request, response) => json(response, { hello: 'world' })],
    ['no such path', (_request, response) => json(response, {}, 404)],
    [
      'a password prompt of a web site',
      (_request, response) => response.writeHead(401).end('Unauthorized') && undefined,
    ],
  ])('where %s answers', async (_what, script) => {
    expect(await detect(await serve(script), 'localai')).toBeUndefined();
  });

  test('where a server is silent, and the others do not wait for it longer than the limit', async () => {
    const silent = await listenRaw(() => {});
    stopping.push(silent);
    const port = await serve(ollama);
    const startedMs = performance.now();
    const found = await detectLocal({
      transport,
      ownPorts: new Set(),
      expected: [
        { port: silent.port, preset: 'vllm' },
        { port, preset: 'ollama' },
      ],
    });
    expect(found.map(({ preset }) => preset)).toEqual(['ollama']);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });

  test('on a port of Sluice itself, which is not even asked', async () => {
    const upstream = await startUpstream(ollama);
    stopping.push(upstream);
    const port = Number(new URL(upstream.origin).port);
    const found = await detectLocal({ transport, ownPorts: new Set([port]), expected: [{ port, preset: 'ollama' }] });
    expect(found).toEqual([]);
    expect(upstream.connections).toBe(0);
  });
});
