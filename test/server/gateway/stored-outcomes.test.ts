/** The stream of a stored response that failed is relayed like any other, instead of being asked for again. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const response = { id: 'resp_1', object: 'response', background: true, output: [] };
const failed = { ...response, status: 'failed', error: { code: 'server_error', message: 'The server had an error.' } };
const event = (type: string, of: object, number: number) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, response: of, sequence_number: number })}\n\n`;
const beginning = [
  event('response.created', { ...response, status: 'queued' }, 0),
  event('response.queued', { ...response, status: 'queued' }, 1),
  event('response.in_progress', { ...response, status: 'in_progress' }, 2),
];
const end = event('response.failed', failed, 3);

beforeAll(async () => {
  upstream = await startUpstream((request, answer) => {
    if (!`${request.url}${request.body}`.includes('stream')) return json(answer, { ...response, status: 'queued' });
    eventStream(answer);
    const events = request.url.includes('starting_after') ? [end] : [...beginning, end];
    // One event a write, as they would come.
    for (const each of events) answer.write(each);
    answer.end();
  });
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const post = (body: object) =>
  gateway.fetch('/responses', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', input: 'Hi', background: true, ...body }),
  });

test.each([
  ['from its beginning', '', [...beginning, end]],
  ['from where it was left', '&starting_after=2', [end]],
])('%s', async (_name, query, events) => {
  await (await post({})).text();
  upstream.seen.length = 0;
  const answer = await gateway.fetch(`/responses/resp_1?stream=true${query}`);
  expect([answer.status, await answer.text()]).toEqual([200, events.join('')]);
  expect(upstream.seen).toHaveLength(1);
});

test('while it is made in the background', async () => {
  const answer = await post({ stream: true });
  expect([answer.status, await answer.text()]).toEqual([200, [...beginning, end].join('')]);
  expect(upstream.seen).toHaveLength(1);
});
