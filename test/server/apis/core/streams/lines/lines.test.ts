import { afterAll, beforeAll, expect, test } from 'vitest';
import { openaiApi } from '../../../../../../server/apis/openai/api.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../../../../support/gateway.ts';
import {
  json,
  oddCuts,
  type ScriptedUpstream,
  sendPieces,
  startUpstream,
  writePieces,
} from '../../../../../support/upstream.ts';
import { lines } from './lines.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)] },
    ports: { apis: [openaiApi, lines] },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const ask = (path: string, body: string, pass = testKey) =>
  fetch(gateway.origin + path, {
    method: 'POST',
    headers: { 'x-lines-pass': pass, 'content-type': 'application/json' },
    body,
  });
const said = Buffer.from('{"say":"Grüße"}\n{"say":" \\n\\n"}\n{"say":"!"}\n{"end":true}\n');
const streaming = '{"ask":"Hi","stream":true}';
const type = { 'content-type': 'application/x-ndjson' };
const recordOf = (response: Response) => gateway.record(response.headers.get('x-sluice-request-id') ?? '');

test('an answer in a format of its own comes as it was sent, and the model of the path is renamed there', async () => {
  upstream.answer((_request, response) => json(response, { say: 'Hello' }));
  const response = await ask('/lines/main%2Fgpt-x', '{"ask":"Hi"}');
  expect(await response.json()).toEqual({ say: 'Hello' });
  const seen = upstream.seen.at(-1);
  expect([seen?.url, seen?.body.toString()]).toEqual(['/v1/lines/gpt-x', '{"ask":"Hi"}']);
  expect(seen?.headers.authorization).toBe('Bearer upstream-secret');
  expect(JSON.stringify(seen?.headers)).not.toContain(testKey);
  expect(await recordOf(response)).toMatchObject({ route: '/lines/{model}', keyId: 'k1', modelAsked: 'main/gpt-x' });
});

test('a stream of lines comes as it was sent, wherever it is cut', async () => {
  upstream.answer((_request, response) => {
    response.writeHead(200, type);
    return sendPieces(response, said, oddCuts(said.length));
  });
  const response = await ask('/lines/gpt-x', streaming);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  expect(Buffer.from(await response.arrayBuffer()).equals(said)).toBe(true);
  expect(await recordOf(response)).toMatchObject({ outcome: 'ok', stream: true, attempts: [{ failure: null }] });
});

test('what was used is read as that API tells it, and else estimated in its own way', async () => {
  upstream.answer((_request, response) => json(response, { say: 'Hello', words: 7 }));
  const told = await recordOf(await ask('/lines/gpt-x', '{"ask":"Hi"}'));
  expect([told.usage, told.usageCertainty]).toEqual([{ outputTokens: 7 }, 'reported']);
  upstream.answer((_request, response) => void response.writeHead(200, type).end(said));
  const response = await ask('/lines/gpt-x', '{"ask":"Hi there","stream":true}');
  await response.text();
  const estimated = await recordOf(response);
  expect([estimated.usage, estimated.usageCertainty]).toEqual([{ inputTokens: 2, outputTokens: 4 }, 'estimated']);
});

test('a stream of lines that breaks off ends with a whole line that says so', async () => {
  upstream.answer(async (_request, response) => {
    response.writeHead(200, type);
    await writePieces(response, said.subarray(0, 20), []);
    response.destroy();
  });
  const response = await ask('/lines/gpt-x', streaming);
  const [first, last, ...more] = (await response.text()).trimEnd().split('\n');
  expect([first, more]).toEqual(['{"say":"Grüße"}', []]);
  expect(JSON.parse(last ?? '')).toMatchObject({ code: 'upstream_stream_broken' });
});

test('an error in place of a stream of lines is an error of that API', async () => {
  upstream.answer(async (_request, response) => {
    response.writeHead(200, type);
    response.end('{"fail":"No such voice","code":"invalid_value"}\n');
  });
  const response = await ask('/lines/gpt-x', streaming);
  expect([response.status, await response.json()]).toEqual([400, { fail: 'No such voice', code: 'invalid_value' }]);
});

test('Sluice’s own errors are in the format of that API', async () => {
  const tell = async (response: Response) => [
    response.status,
    response.headers.get('x-lines-error'),
    Object.keys(JSON.parse(await response.text())),
  ];
  expect(await tell(await ask('/lines/gpt-x', '{}', 'wrong'))).toEqual([401, 'invalid_key', ['fail', 'code']]);
  expect(await tell(await ask('/lines/gpt-x/y', '{}'))).toEqual([404, 'unknown_url', ['fail', 'code']]);
  const got = await fetch(`${gateway.origin}/lines/gpt-x`);
  expect(await tell(got)).toEqual([405, 'method_not_allowed', ['fail', 'code']]);
});

test('the models are listed as that API lists them', async () => {
  const list = (path: string) => fetch(gateway.origin + path, { headers: { 'x-lines-pass': testKey } });
  const response = await list('/lines/');
  expect(await response.json()).toEqual({ voices: expect.arrayContaining(['gpt-x']) });
  expect(await recordOf(response)).toMatchObject({ route: '/lines/', outcome: 'ok' });
  expect((await list('/lines/usage')).status).toBe(405);
});

test('OpenAI’s API is served beside it, and does not take its key', async () => {
  upstream.answer((_request, response) => json(response, { choices: [] }));
  const init = { method: 'POST', body: '{"model":"gpt-x"}', headers: { 'content-type': 'application/json' } };
  expect((await gateway.fetch('/chat/completions', init)).status).toBe(200);
  expect((await ask('/v1/chat/completions', '{"model":"gpt-x"}')).status).toBe(401);
});
