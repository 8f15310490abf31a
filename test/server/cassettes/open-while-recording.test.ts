import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CassetteRegistry, type OpenCassette } from '../../../server/cassettes/deck.ts';

test('a cassette opens while another is recorded without end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cassettes-'));
  const registry = new CassetteRegistry(() => {});
  const recorded = await registry.open({ folder: join(folder, 'recorded'), mode: 'record' });
  await record(recorded, 0);
  let isOpen = false;
  const opened = registry.open({ folder: join(folder, 'opened'), mode: 'record' }).then(() => {
    isOpen = true;
  });
  // A write takes several turns of the event loop, so that one is always pending.
  for (let index = 1; index < 3_000 && !isOpen; index += 1) {
    await record(recorded, index);
    await setImmediate();
  }
  expect(isOpen).toBe(true);
  await opened;
  await registry.close();
  rmSync(folder, { recursive: true });
});

async function record(cassette: OpenCassette, index: number): Promise<void> {
  const taken = await cassette.take({
    id: `req_${index}`,
    method: 'POST',
    url: '/v1/chat/completions',
    label: '/v1/chat/completions',
    wire: 'openai-chat',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ model: 'gpt-x', index })),
    secrets: [],
    keepAlive: null,
  });
  if (taken.kind !== 'recorded') throw new Error('It was to be recorded.');
  taken.recording.begin(200, { 'content-type': 'application/json' });
  taken.recording.take(Buffer.from('{}'));
  taken.recording.end('complete', null);
}
