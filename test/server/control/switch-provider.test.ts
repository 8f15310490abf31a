import { expect, test } from 'vitest';
import { json, startUpstream } from '../../support/upstream.ts';
import { startControlGateway } from './control-gateway.ts';

test('a provider that is added by a command serves, is switched off, and serves again, without a restart', async () => {
  const upstream = await startUpstream((_request, response) => json(response, { id: 'x', choices: [] }));
  const sluice = await startControlGateway();
  const ask = async (model: string) => {
    const response = await sluice.fetch('/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ model, messages: [] }),
      headers: { 'content-type': 'application/json' },
    });
    const body = await response.json();
    return [response.status, body.error?.code];
  };
  const models = async () => (await sluice.client.models.list()).data.map(({ id }) => id);

  expect(await models()).toContain('demo-chat');
  await sluice.gateway.execute({
    type: 'provider.add',
    provider: { name: 'Mine', baseUrl: upstream.baseUrl, models: ['gpt-x'] },
    credentials: [{ secret: 'sk-planted-4711' }],
  });
  expect(await models()).toEqual(['gpt-x']);
  expect(await ask('gpt-x')).toEqual([200, undefined]);
  expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer sk-planted-4711');

  await sluice.gateway.execute({ type: 'provider.set-enabled', id: 'mine', enabled: false });
  expect(await ask('gpt-x')).toEqual([503, 'no_healthy_provider']);
  expect(upstream.seen).toHaveLength(1);

  await sluice.gateway.execute({ type: 'provider.set-enabled', id: 'mine', enabled: true });
  expect(await ask('gpt-x')).toEqual([200, undefined]);

  await sluice.gateway.execute({ type: 'credential.set', provider: 'mine', id: 'c1', secret: 'sk-planted-0815' });
  await ask('gpt-x');
  expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer sk-planted-0815');

  await sluice.gateway.execute({ type: 'provider.remove', id: 'mine' });
  expect(await models()).toContain('demo-chat');
  await sluice.stop();
  await upstream.stop();
});

test('what the demo was asked goes on when the first provider takes its place', async () => {
  const upstream = await startUpstream((_request, response) => json(response, { id: 'x', choices: [] }));
  const sluice = await startControlGateway();
  const stream = await sluice.client.chat.completions.create({
    model: 'demo-chat',
    stream: true,
    messages: [{ role: 'user', content: 'A long story, please.' }],
  });
  const pieces = stream[Symbol.asyncIterator]();
  expect((await pieces.next()).done).toBe(false);
  await sluice.gateway.execute({ type: 'provider.add', provider: { baseUrl: upstream.baseUrl, models: ['gpt-x'] } });
  expect((await sluice.client.models.list()).data.map(({ id }) => id)).toEqual(['gpt-x']);
  const reasons: unknown[] = [];
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    reasons.push(next.value.choices[0]?.finish_reason ?? null);
  }
  expect(reasons.at(-1)).toBe('stop');
  expect(reasons.length).toBeGreaterThan(1);
  await sluice.stop();
  await upstream.stop();
});
