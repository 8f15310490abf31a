/** What Sluice does not know may be anybody's: a key deletes it only if its group may. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashOf, mainProvider, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { stopAfterEach } from '../../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';

const dialects = ['openai', 'anthropic', 'gemini'] as const;
type ApiName = (typeof dialects)[number];
type Rule = 'alone' | 'allow' | 'refuse' | undefined;

const headersOf: Record<ApiName, (key: string) => Record<string, string>> = {
  openai: (key) => ({ authorization: `Bearer ${key}` }),
  anthropic: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  gemini: (key) => ({ 'x-goog-api-key': key }),
};

let upstream: ScriptedUpstream;
const stopLater = stopAfterEach();
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.stop());

function start(api: ApiName, rule: Rule, others: string[]): Promise<TestGateway> {
  const groups = ['default', ...others];
  return stopLater(
    startGateway({
      config: {
        groups: groups.map((id) => ({
          ...{ id, passthrough: 'main' },
          ...(rule !== undefined && { deleteUnknown: rule }),
        })),
        keys: groups.map((id) => ({ id, group: id, hash: hashOf(id) })),
        providers: [mainProvider(api === 'openai' ? upstream.baseUrl : upstream.origin, { dialect: api })],
      },
    }),
  );
}

const paths: [ApiName, string, string][] = [
  ['openai', '/v1/files', 'file-1'],
  ['openai', '/v1/vector_stores', 'vs_1'],
  ['openai', '/v1/containers/cntr_1/files', 'cfile_1'],
  ['openai', '/v1/models', 'ft:gpt-4o:acme::1'],
  ['openai', '/openai/v1/files', 'file-2'],
  ['anthropic', '/v1/files', 'file_1'],
  ['anthropic', '/v1/messages/batches', 'msgbatch_1'],
  ['gemini', '/v1beta/files', 'abc-1'],
  ['gemini', '/v1beta/tunedModels', 'mine-1'],
];

const remove = (gateway: TestGateway, api: ApiName, path: string) =>
  fetch(gateway.origin + path, { method: 'DELETE', headers: headersOf[api]('default') });

describe.each(paths)('%s: DELETE %s/%s', (api, folder, id) => {
  test.each<[Rule, string[], number]>([
    [undefined, [], 200],
    [undefined, ['other'], 403],
    ['alone', ['other'], 403],
    ['refuse', [], 403],
    ['allow', ['other'], 200],
  ])('with the rule %s and the other groups %j is %i', async (rule, others, status) => {
    upstream.answer((_request, response) => json(response, {}));
    const gateway = await start(api, rule, others);
    const before = upstream.seen.length;
    const response = await remove(gateway, api, `${folder}/${id}`);
    expect([response.status, await response.text()]).toEqual([
      status,
      status === 403 ? expect.stringContaining('--delete-unknown allow') : expect.any(String),
    ]);
    expect(upstream.seen.length - before).toBe(status === 200 ? 1 : 0);
  });
});

test('what the group has made itself is deleted by it, and what stands within', async () => {
  const gateway = await start('openai', 'refuse', ['other']);
  upstream.answer((_request, response) => json(response, { id: 'vs_1a' }));
  const headers = { ...headersOf.openai('default'), 'content-type': 'application/json' };
  await fetch(`${gateway.origin}/v1/vector_stores`, { method: 'POST', headers, body: '{}' });
  for (const path of ['/v1/vector_stores/vs_1a/files/file-9', '/v1/vector_stores/vs_1a']) {
    expect((await remove(gateway, 'openai', path)).status).toBe(200);
  }
  expect((await remove(gateway, 'openai', '/v1/vector_stores/vs_1a')).status).toBe(403);
});
