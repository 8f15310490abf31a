/** What a key makes at a provider of any API is reached by its own group alone, with the account that made it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashOf, mainProvider, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const dialects = ['anthropic', 'gemini'] as const;
const groups = dialects.flatMap((id) => [
  { id: `${id}-owner`, passthrough: id },
  { id: `${id}-stranger`, passthrough: id },
]);

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      groups,
      keys: groups.map(({ id }) => ({ id, group: id, hash: hashOf(id) })),
      providers: dialects.map((id) => mainProvider(upstream.origin, { id, dialect: id })),
    },
    secrets: Object.fromEntries(dialects.map((id) => [`provider/${id}/c1`, 'x'])),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const headersOf = {
  anthropic: (key: string) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  gemini: (key: string) => ({ 'x-goog-api-key': key }),
};

test.each<[keyof typeof headersOf, string, string, object, object?]>([
  ['anthropic', '/v1/skills', '/v1/skills/made-1/versions', { id: 'made-1' }],
  ['anthropic', '/v1/agents', '/v1/agents/made-2', { id: 'made-2', name: 'reviewer/2' }],
  ['anthropic', '/v1/environments', '/v1/environments/made-3', { id: 'made-3' }],
  ['anthropic', '/v1/vaults', '/v1/vaults/made-4/credentials', { id: 'made-4' }],
  ['anthropic', '/v1/memory_stores', '/v1/memory_stores/made-5/memories', { id: 'made-5' }],
  ['anthropic', '/v1/user_profiles', '/v1/user_profiles/made-6', { id: 'made-6' }],
  ['anthropic', '/v1/sessions', '/v1/sessions/made-7/events', { id: 'made-7' }],
  ['anthropic', '/v1/agents', '/v1/sessions', { id: 'made-8' }, { agent: 'made-8' }],
  ['anthropic', '/v1/agents', '/v1/sessions', { id: 'made-9' }, { agent: { type: 'agent', id: 'made-9' } }],
  ['anthropic', '/v1/vaults', '/v1/sessions', { id: 'made-10' }, { vault_ids: ['made-10'] }],
  ['gemini', '/v1/files', '/v1/files/made-a', { name: 'files/made-a' }],
  ['gemini', '/upload/v1/files', '/v1beta/files/made-b', { file: { name: 'files/made-b' } }],
  ['gemini', '/v1/cachedContents', '/v1/cachedContents/made-c', { name: 'cachedContents/made-c', model: 'models/x' }],
  ['gemini', '/v1beta/models/x:batchGenerateContent', '/v1/batches/made-d:cancel', { name: 'batches/made-d' }],
  [
    'gemini',
    '/v1beta/models/veo-3:predictLongRunning',
    '/v1beta/models/veo-3/operations/made-e',
    { name: 'models/veo-3/operations/made-e' },
  ],
  ['gemini', '/v1beta/interactions', '/v1beta/interactions/made-f', { id: 'made-f' }],
  ['gemini', '/v1beta/interactions', '/v1beta/interactions', { id: 'made-g' }, { previous_interaction_id: 'made-g' }],
  ['gemini', '/v1/fileSearchStores', '/v1/fileSearchStores/made-h/documents', { name: 'fileSearchStores/made-h' }],
  [
    'gemini',
    '/v1beta/files',
    '/v1beta/fileSearchStores/s:importFile',
    { name: 'files/made-i' },
    { fileName: 'files/made-i' },
  ],
])('%s: what %s has made is another group’s at %s', async (api, making, using, answer, naming) => {
  const send = (path: string, group: string, body: object | undefined) =>
    fetch(gateway.origin + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headersOf[api](`${api}-${group}`) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  upstream.answer((_request, response) => json(response, answer));
  expect((await send(making, 'owner', {})).status).toBe(200);
  const before = upstream.seen.length;
  const refused = await send(using, 'stranger', naming);
  expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining('No such object')]);
  expect(upstream.seen).toHaveLength(before);
  expect((await send(using, 'owner', naming)).status).toBe(200);
});

test('a token for the Live API is not kept, since its name is the token itself', async () => {
  upstream.answer((_request, response) => json(response, { name: 'auth_tokens/secret-token' }));
  const headers = headersOf.gemini('gemini-owner');
  const init = { method: 'POST', headers, body: '{}' };
  expect((await fetch(`${gateway.origin}/v1alpha/auth_tokens`, init)).status).toBe(200);
  upstream.answer((_request, response) => json(response, {}));
  const asStranger = { headers: headersOf.gemini('gemini-stranger') };
  expect((await fetch(`${gateway.origin}/v1beta/files/secret-token`, asStranger)).status).toBe(200);
});

test.each([
  ['anthropic', '/v1/organizations/users'],
  ['anthropic', '/v1/organizations/me'],
] as const)('%s’s administration of an organisation is refused: %s', async (api, path) => {
  const before = upstream.seen.length;
  const response = await fetch(gateway.origin + path, { headers: headersOf[api](`${api}-owner`) });
  expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('administers')]);
  expect(upstream.seen).toHaveLength(before);
});
