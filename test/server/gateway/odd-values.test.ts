/** Values of JSON that cannot be converted to text or a number: an object with own `toString`, or very deep lists. */
import { afterEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const odd = { toString: 1, valueOf: 1 };
const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
const good = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'Hi' } }] };

let upstream: ScriptedUpstream;
let gateway: TestGateway;

/** One request at a time, so that a place that is not released refuses the next request. */
async function start(provider: Record<string, unknown> = {}): Promise<void> {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl, provider)],
      groups: [{ id: 'default', policy: { retries: 0 } }],
      settings: { admission: { running: 1, waiting: 1 } },
    },
  });
}
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
});

function ask(path: string, body: string): Promise<Response> {
  return gateway.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

test.each([
  ['/chat/completions', `{"model":"gpt-x","messages":[],"n":${JSON.stringify(odd)}}`],
  ['/chat/completions', `{"model":"gpt-x","messages":[],"n":${deep}}`],
  ['/completions', `{"model":"gpt-x","prompt":"Hi","best_of":${JSON.stringify(odd)}}`],
  ['/images/generations', `{"model":"gpt-x","prompt":"Hi","n":${JSON.stringify(odd)},"size":${JSON.stringify(odd)}}`],
  ['/videos', `{"model":"gpt-x","prompt":"Hi","seconds":${JSON.stringify(odd)}}`],
])('a request to %s with a count that is none is left to the upstream: %.70s', async (path, body) => {
  await start();
  upstream.answer((_request, response) => json(response, { error: { message: 'Invalid count.' } }, 400));
  for (let time = 0; time < 3; time++) {
    const response = await ask(path, body);
    expect([response.status, await response.json()]).toEqual([400, { error: { message: 'Invalid count.' } }]);
  }
  expect((await gateway.record()).status).toBe(400);
});

const chat = '{"model":"gpt-x","messages":[{"role":"user","content":"Hi"}]}';
const chatStream = '{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"Hi"}]}';
void [odd, good, chat, chatStream, eventStream];
