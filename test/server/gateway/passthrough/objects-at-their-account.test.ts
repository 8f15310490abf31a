/** A file, a cache or the like exists in the account that made it: what names it is answered there, and by no other account. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashOf, mainProvider, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const dialects = ['openai', 'anthropic', 'gemini'] as const;
type Dialect = (typeof dialects)[number];
const accounts = ['c1', 'c2', 'c3'];

const answers: Record<Dialect, object> = {
  openai: { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] },
  anthropic: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' },
  gemini: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] },
};

beforeAll(async () => {
  upstream = await startUpstream();
  const credentials = accounts.map((id) => ({ id }));
  const provider = (id: string, dialect: Dialect) =>
    mainProvider(`${upstream.origin}/${id}${dialect === 'openai' ? '/v1' : ''}`, {
      id,
      dialect,
      credentials,
      models: ['m'],
    });
  gateway = await startGateway({
    config: {
      groups: dialects.map((id) => ({ id, passthrough: id })),
      keys: dialects.map((id) => ({ id, group: id, hash: hashOf(`key of ${id}`) })),
      providers: dialects.flatMap((id) => [provider(id, id), provider(`${id}-2`, id)]),
      aliases: dialects.map((id) => ({
        name: `any-${id}`,
        targets: [`${id}-2`, id].map((each) => ({ provider: each, model: 'm', priority: 0 })),
      })),
    },
    secrets: Object.fromEntries(
      dialects
        .flatMap((id) => [id, `${id}-2`])
        .flatMap((id) => accounts.map((each) => [`provider/${id}/${each}`, each])),
    ),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const headersOf: Record<Dialect, Record<string, string>> = {
  openai: { authorization: 'Bearer key of openai' },
  anthropic: { 'x-api-key': 'key of anthropic', 'anthropic-version': '2023-06-01' },
  gemini: { 'x-goog-api-key': 'key of gemini' },
};

async function send(dialect: Dialect, path: string, body: object): Promise<number> {
  const headers = { 'content-type': 'application/json', ...headersOf[dialect] };
  const response = await fetch(gateway.origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
  await response.text();
  return response.status;
}

const placeOf = ({ url, headers }: SeenRequest) =>
  `${url.split('/')[1]} ${headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization}`;

const chat = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const contents = (part: object) => ({ contents: [{ role: 'user', parts: [part] }] });

interface Case {
  dialect: Dialect;
  made: string;
  /** The body by which it is made, and what is told of it. */
  answer: object;
  path: (model: string) => string;
  body: (id: string) => object;
}

const file = (id: string) => ({ type: 'document', source: { type: 'file', file_id: id } });
const generate = (model: string) => `/v1beta/models/${model}:generateContent`;
const cases: Case[] = [
  {
    dialect: 'openai',
    made: '/v1/files',
    answer: { id: 'file-1' },
    path: () => '/v1/chat/completions',
    body: (id) => chat([{ type: 'file', file: { file_id: id } }]),
  },
  {
    dialect: 'openai',
    made: '/v1/vector_stores',
    answer: { id: 'vs_1' },
    path: () => '/v1/responses',
    body: (id) => ({ input: 'Hi', store: false, tools: [{ type: 'file_search', vector_store_ids: [id] }] }),
  },
  {
    dialect: 'anthropic',
    made: '/v1/files',
    answer: { id: 'file_a' },
    path: () => '/v1/messages',
    body: (id) => ({ max_tokens: 10, ...chat([file(id), { type: 'text', text: 'x'.repeat(200_000) }]) }),
  },
  {
    dialect: 'anthropic',
    made: '/v1/skills',
    answer: { id: 'skill_1' },
    path: () => '/v1/messages',
    body: (id) => ({ max_tokens: 10, ...chat('Hi'), container: { skills: [{ type: 'custom', skill_id: id }] } }),
  },
  {
    dialect: 'gemini',
    made: '/v1beta/cachedContents',
    answer: { name: 'cachedContents/c-1' },
    path: generate,
    body: () => ({ ...contents({ text: 'Hi' }), cachedContent: 'cachedContents/c-1' }),
  },
  {
    dialect: 'gemini',
    made: '/v1beta/files',
    answer: { name: 'files/f-1' },
    path: generate,
    body: () =>
      contents({
        fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/f-1', mimeType: 'text/plain' },
      }),
  },
];

describe.each(cases)('$dialect, made by POST $made', ({ dialect, made, answer, path, body }) => {
  const { id = '' } = answer as { id?: string };

  test('is named in requests that reach its account alone, whatever takes turns', async () => {
    upstream.answer((_request, response) => json(response, answer));
    expect(await send(dialect, made, {})).toBe(200);
    const [home] = upstream.seen.splice(0).map(placeOf);
    upstream.answer((_request, response) => json(response, dialect === 'openai' ? responseOrChat : answers[dialect]));
    for (const model of ['m', `any-${dialect}`]) {
      // Texts that differ, so that conversations would not stay with an account by themselves.
      for (let turn = 0; turn < 12; turn++) {
        const asked = { ...body(id), ...(dialect !== 'gemini' && { model }), ...distinct(dialect, turn) };
        expect(await send(dialect, path(model), asked)).toBe(200);
      }
      const places = upstream.seen.splice(0).map(placeOf);
      expect([places.length, new Set(places)]).toEqual([12, new Set([home])]);
    }
  });

  test('and which Sluice does not know goes where any request goes', async () => {
    for (let turn = 0; turn < 24; turn++) {
      const unknown = JSON.parse(
        JSON.stringify(body(`${id}-unknown`)).replaceAll(/\/([cf]-1)/g, '/unknown-$1'),
      ) as object;
      const asked = {
        ...unknown,
        ...(dialect !== 'gemini' && { model: `any-${dialect}` }),
        ...distinct(dialect, turn),
      };
      expect(await send(dialect, path(`any-${dialect}`), asked)).toBe(200);
    }
    expect(new Set(upstream.seen.splice(0).map(placeOf)).size).toBeGreaterThan(1);
  });
});

/** What both a chat and a response of OpenAI have. */
const responseOrChat = { ...answers.openai, object: 'response', status: 'completed', output: [], id: 'resp_1' };

const distinct = (dialect: Dialect, turn: number) =>
  dialect === 'gemini'
    ? { systemInstruction: { parts: [{ text: `Turn ${turn}` }] } }
    : dialect === 'anthropic'
      ? { system: `Turn ${turn}` }
      : { user: `u${turn}`, instructions: undefined };
