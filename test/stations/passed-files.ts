/**
 * Prints, as JSON, the files of `server/` in which a function runs during one plain chat, from its socket to its row in
 * the ledger; with the argument `claude`, during the stream of a client of Anthropic's API at a provider of OpenAI's. Runs in
 * its own process, because the profiler counts all calls of a process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { mainProvider, startGateway } from '../support/gateway.ts';
import { eventStream, json, startUpstream } from '../support/upstream.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x' };
const chunks = [
  { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
  { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { ...chunk, choices: [], usage: answer.usage },
];
const isStream = process.argv.includes('claude');

const upstream = await startUpstream((_request, response) => {
  if (!isStream) return json(response, answer);
  eventStream(response);
  response.end(`${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`);
});
const folder = mkdtempSync(join(tmpdir(), 'sluice-stations-'));
const gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] }, folder });
// Opened outside the engine, whose own queries would count as files that the chat passes.
const ledger = new DatabaseSync(join(folder, 'ledger.sqlite'), { readOnly: true });
const outcome = ledger.prepare('SELECT outcome FROM requests WHERE id = ?');

async function ask(): Promise<void> {
  const response = await gateway.fetch(isStream ? '/messages' : '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-x',
      messages: [{ role: 'user', content: 'Hi' }],
      ...(isStream && { max_tokens: 9, stream: true }),
    }),
  });
  await response.text();
  await eventually(() => outcome.get(response.headers.get('x-sluice-request-id') ?? '')?.outcome ?? null);
}

// Warms up, so that one-time work such as opening a connection is not counted.
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
ledger.close();
await gateway.stop();
await upstream.stop();
rmSync(folder, { recursive: true });
