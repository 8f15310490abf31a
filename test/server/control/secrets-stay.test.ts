import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CommandInput } from '../../../server/contract/commands.ts';
import type { QueryInput } from '../../../server/contract/queries.ts';
import { createLog, createRequestLog } from '../../../server/ground/files/log.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { gatherEvents, startControlGateway } from './control-gateway.ts';

const planted = ['sk-planted-one', 'sk-planted-two', 'sk-planted-env'];

test('no answer, event, export, file or log line holds a secret, but for the answers that are made to', async () => {
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const requests = createRequestLog(destination);
  const upstream = await startUpstream((_request, response) => json(response, { error: { message: 'no' } }, 401));
  const sluice = await startControlGateway({
    ports: { env: { MAIN_KEY: planted[2] }, log: createLog(destination), logRequest: requests.log },
  });
  const events = gatherEvents(sluice.gateway);
  const heard: string[] = [];
  const send = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const response = await sluice.control(path, { method: 'POST', body: JSON.stringify(body), headers });
    const text = await response.text();
    heard.push(text, JSON.stringify([...response.headers]));
    return JSON.parse(text);
  };
  const execute = (command: CommandInput) => send('/execute', command);
  const query = (question: QueryInput) => send('/query', question);
  const [one = '', two = ''] = planted;

  await execute({
    type: 'provider.add',
    id: 'p',
    provider: { baseUrl: upstream.baseUrl, models: ['gpt-x'] },
    credentials: [{ secret: one }, { reference: 'env:MAIN_KEY' }],
  });
  await execute({ type: 'credential.set', provider: 'p', id: 'c1', secret: two });
  await send('/execute', { type: 'credential.set', provider: 'p', secret: one, reference: two });
  await send('/execute', {
    type: 'provider.add',
    provider: { secret: one },
    credentials: [{ secret: `${two}\u0007` }],
  });
  await execute({ type: 'provider.refresh-models', id: 'p' });
  await sluice.client.chat.completions.create({ model: 'gpt-x', messages: [] }).catch(() => {});

  // Not through `send`, because these answers are meant to contain the secret.
  const keys = [
    await sluice.gateway.execute({ type: 'key.create', id: 'k2' }),
    await sluice.gateway.execute({ type: 'key.rotate', id: 'k2' }),
    await sluice.gateway.execute({ type: 'key.reveal', id: 'k2' }),
    await sluice.gateway.execute({ type: 'key.create', keepSecret: false }),
  ].map(({ secret }) => secret);

  const questions: QueryInput[] = [
    ...(['status', 'providers', 'presets', 'keys', 'groups', 'aliases', 'requests', 'config'] as const).map((type) => ({
      type,
    })),
    { type: 'provider-test', id: 'p' },
    { type: 'models', key: 'k2' },
    { type: 'route', key: 'k2', model: 'gpt-x' },
    { type: 'usage', by: 'key' },
  ];
  for (const question of questions) await query(question);
  const { result } = await query({ type: 'requests', filter: { model: 'gpt-x' } });
  await query({ type: 'request', id: result.requests[0].id });
  for (const path of ['/requests.csv', '/requests.jsonl']) heard.push(await (await sluice.control(path)).text());
  await events.next('config-changed', ({ status }) => status.revision === 6);
  heard.push(JSON.stringify(events.messages));
  events.stop();
  expect(upstream.seen.map(({ headers }) => headers.authorization)).toContain(`Bearer ${two}`);

  await sluice.gateway.stop();
  const files: string[] = [];
  for (const name of await readdir(sluice.folder)) {
    if (name !== 'admin.token') files.push(await readFile(join(sluice.folder, name), 'latin1'));
  }
  requests.flush();
  const everything = [...heard, ...logged, ...files].join('\n');
  for (const secret of [...planted, ...keys, sluice.adminToken]) expect(everything).not.toContain(secret);
  expect(everything).toContain('gpt-x');
  await sluice.stop();
  await upstream.stop();
});
