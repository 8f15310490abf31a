import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mainProvider, startGateway } from '../../support/gateway.ts';
import { eventStream, startUpstream } from '../../support/upstream.ts';
import { chatWithoutUsage } from './streams.ts';

const chat = { method: 'POST', body: '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":false}}' };

test('stopping lets a stream come to its end', async () => {
  const finish = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (_request, response) => {
    eventStream(response);
    response.write(chatWithoutUsage.slice(0, 500));
    await finish.promise;
    response.end(chatWithoutUsage.slice(500));
  });
  const gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  const response = await gateway.fetch('/chat/completions', chat);
  const stopped = gateway.gateway.stop(10_000);
  finish.resolve();
  expect(await response.text()).toBe(chatWithoutUsage);
  await stopped;
  await upstream.stop();
  rmSync(gateway.folder, { recursive: true });
});

test('a stream that stopping cuts off has its row in the ledger', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-stop-'));
  const upstream = await startUpstream((_request, response) => {
    eventStream(response);
    response.write(chatWithoutUsage.slice(0, 500));
  });
  const options = { folder, config: { providers: [mainProvider(upstream.baseUrl)] } };
  const gateway = await startGateway(options);
  const response = await gateway.fetch('/chat/completions', chat);
  const cut = response.text();
  await Promise.all([expect(cut).resolves.toMatch(/"code":"shutting_down"\}\}\n\n$/), gateway.gateway.stop(20)]);
  const again = await startGateway(options);
  expect(await again.record(response.headers.get('x-request-id') ?? '')).toMatchObject({
    outcome: 'stream-broken',
    errorCode: 'shutting_down',
    status: 200,
    totalMs: expect.any(Number),
  });
  await again.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true });
});
