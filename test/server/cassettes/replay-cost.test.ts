/**
 * The cost of a replayed request, compared with one that the response cache answers.
 *
 * @suite measured
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OpenCassette } from '../../../server/cassettes/deck.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-cassette-'));
const open = (mode: 'record' | 'replay') => OpenCassette.open({ folder, mode, pace: 0, problem: () => {} });

const bodies = Array.from({ length: 150 }, (_, number) =>
  JSON.stringify({
    model: 'gpt-x',
    temperature: 0,
    messages: [{ role: 'user', content: `Question ${number} ${'with many words '.repeat(2_500)}` }],
  }),
);

let upstream: ScriptedUpstream;
let caching: TestGateway;
const gateways: TestGateway[] = [];
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, completion({ content: 'Hello' })));
  const providers = [mainProvider(upstream.baseUrl)];
  caching = await startGateway({ config: { providers, groups: [{ id: 'default', cache: {} }] } });
  const cassette = await open('record');
  const recording = await startGateway({ config: { providers }, ports: { cassette } });
  gateways.push(caching, recording);
  await askAll(caching);
  await askAll(recording);
  await cassette.close();
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves with the answers. */
async function askAll(gateway: TestGateway): Promise<string[]> {
  const headers = { 'content-type': 'application/json' };
  const answers: string[] = [];
  for (const body of bodies)
    answers.push(await (await gateway.fetch('/chat/completions', { method: 'POST', headers, body })).text());
  return answers;
}

/** Microseconds of CPU time, including the clients'. */
async function cpuOf(gateway: TestGateway): Promise<number> {
  const before = process.cpuUsage();
  await askAll(gateway);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

test('a replayed answer reads no file, and costs no more than one from the response cache', {
  timeout: 120_000,
}, async () => {
  const cassette = await open('replay');
  const replaying = await startGateway({ ports: { cassette } });
  gateways.push(replaying);
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  expect(await askAll(replaying)).toEqual(await askAll(caching));
  const replayed = [];
  const cached = [];
  for (let round = 0; round < 4; round++) {
    replayed.push(await cpuOf(replaying));
    cached.push(await cpuOf(caching));
  }
  expect(cassette.summary).toMatchObject({ hits: 5 * bodies.length, misses: 0 });
  // It took six times as long when each request was compared as JSON. The limit of 1.5 leaves room for the machine.
  expect(Math.min(...replayed)).toBeLessThan(Math.min(...cached) * 1.5);
});
