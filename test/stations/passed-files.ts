/**
 * Prints, as JSON, the files of `server/` in which a function runs while one plain chat passes, from its socket to its
 * row in the ledger. Run as a process of its own: what counts the calls would count those of everything beside it.
 */
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mainProvider, startGateway } from '../support/gateway.ts';
import { json, startUpstream } from '../support/upstream.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const upstream = await startUpstream((_request, response) => json(response, answer));
const gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });

async function ask(): Promise<void> {
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
}

// What happens once, such as opening a connection, is no part of a request's way.
await ask();
await ask();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await session.post('Profiler.takePreciseCoverage');
await ask();
const { result } = await session.post('Profiler.takePreciseCoverage');
const passed = result
  .filter(({ url }) => url.startsWith('file:'))
  // The first function is the module itself.
  .filter(({ functions }) => functions.slice(1).some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
  .map(({ url }) => relative(root, fileURLToPath(url)))
  .filter((path) => path.startsWith('server/'))
  .sort();
console.log(JSON.stringify(passed));
await gateway.stop();
await upstream.stop();
