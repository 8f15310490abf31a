/** Cassettes of the size that a large test suite has. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { formatExchange } from '../../../server/cassettes/cassette-files.ts';
import { OpenCassette } from '../../../server/cassettes/deck.ts';
import type { RecordedExchange } from '../../../server/cassettes/format.ts';
import { memoryInUse } from '../../support/cpu-work.ts';
import { startGateway } from '../../support/gateway.ts';
import { isSweep } from '../../support/sweep.ts';

const count = isSweep ? 10_000 : 2_500;
const firstCount = 50;
const replayedCount = isSweep ? 1_000 : 200;
const parent = mkdtempSync(join(tmpdir(), 'sluice-cassettes-'));
/** Size of each prompt. The prompts of all recordings take many times more than the index may. */
const promptBytes = 4_000;

const bodyOf = (number: number) => ({
  model: 'gpt-x',
  messages: [{ role: 'user', content: `Question ${number} ${'x'.repeat(promptBytes)}` }],
});

function recordingOf(number: number): RecordedExchange {
  return {
    version: 1,
    request: {
      method: 'POST',
      path: '/v1/chat/completions',
      wire: 'openai-chat',
      headers: { 'content-type': 'application/json' },
      body: { json: bodyOf(number) },
    },
    response: {
      status: 200,
      headers: { 'content-type': 'application/json' },
      ended: 'complete',
      body: { json: { answer: number }, afterMs: 5 },
    },
    usage: null,
  };
}

/** Creates a cassette with this many recordings. */
function make(recordings: number): string {
  const folder = join(parent, String(recordings));
  mkdirSync(folder);
  for (let number = 1; number <= recordings; number++) {
    const name = `${String(number).padStart(4, '0')}-chat-completions-000000.json`;
    writeFileSync(join(folder, name), formatExchange(recordingOf(number)));
  }
  return folder;
}
afterAll(() => rmSync(parent, { recursive: true }));

const open = (folder: string) => OpenCassette.open({ folder, mode: 'replay', pace: 0, problem: () => {} });

test('thousands of recordings are read and matched without their bodies being kept', { timeout: 120_000 }, async () => {
  const folder = make(count);
  // What the first one loads and compiles is not what a recording takes.
  await open(make(firstCount));
  const before = memoryInUse().heapUsed;
  const cassette = await open(folder);
  const kept = memoryInUse().heapUsed - before;
  // The index takes some 1.6 kB of each; a body that is kept would be a prompt more.
  expect(kept / count).toBeLessThan(0.75 * promptBytes);
  expect(cassette.summary.unused).toHaveLength(count);
  const heard = {
    ...{ id: 'req_1', method: 'POST', url: '/v1/chat/completions', label: '/v1/chat/completions', wire: 'openai-chat' },
    ...{ headers: { 'content-type': 'application/json' }, secrets: [], keepAlive: null },
  };
  for (const number of [1, count - 1, count, count / 2]) {
    const taken = await cassette.take({ ...heard, body: Buffer.from(JSON.stringify(bodyOf(number))) });
    const answer =
      taken.kind === 'replayed' ? Buffer.concat(taken.answer.pieces.map(({ bytes }) => bytes)).toString() : '';
    expect(answer).toBe(`{"answer":${number}}`);
  }
  const missed = cassette.take({ ...heard, body: Buffer.from(JSON.stringify({ ...bodyOf(700), temperature: 1 })) });
  await expect(missed).rejects.toThrow('0700-chat-completions-000000.json, differs first in temperature');
  expect(cassette.summary.unused).toHaveLength(count - 4);
});

test('hundreds of exchanges are replayed byte for byte, each time', { timeout: 120_000 }, async () => {
  const folder = make(replayedCount);
  const replay = async () => {
    const cassette = await open(folder);
    const gateway = await startGateway({ ports: { cassette } });
    try {
      const answers: string[] = [];
      for (let first = 1; first <= replayedCount; first += 20) {
        const numbers = Array.from({ length: 20 }, (_, index) => first + index);
        const texts = numbers.map(async (number) => {
          const body = JSON.stringify(bodyOf(number));
          const headers = { 'content-type': 'application/json' };
          return (await gateway.fetch('/chat/completions', { method: 'POST', headers, body })).text();
        });
        answers.push(...(await Promise.all(texts)));
      }
      return answers;
    } finally {
      await gateway.stop();
    }
  };
  const once = await replay();
  expect(once).toEqual(Array.from({ length: replayedCount }, (_, index) => `{"answer":${index + 1}}`));
  expect(await replay()).toEqual(once);
});
