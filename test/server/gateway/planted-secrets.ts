/** Secrets of every kind, planted wherever a client or a provider can write text, and where a gateway shows what it keeps. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { QueryInputMap, QueryType } from '../../../server/contract/queries.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, type TestGateway } from '../../support/gateway.ts';
import { eventFrame, sendFrames } from '../../support/strict-bedrock.ts';
import { completion } from '../../support/strict-chat.ts';
import { eventStream, json, type Script, type ScriptedUpstream } from '../../support/upstream.ts';

const key = 'presentedKeyOfNoForm0815xyz';
/** By what it is. None has a blank or a sign that divides words, so that an index of words would have it whole. */
export const secrets: Readonly<Record<string, string>> = {
  'the key that is presented': key,
  'the credential of the provider': '7c4a8d09ca3762af61e59520943dc264',
  'the credential of a provider that was not asked': 'f00dcafe11223344556677889900aabb',
  'another key of the gateway': `sk-sluice-${'q7W8e9R0'.repeat(6)}`,
  'a key of OpenAI': `sk-proj-${'a1B2c3D4e5F6'.repeat(4)}`,
  'a token of GitHub': `ghp_${'x9Y8z7W6v5U4'.repeat(3)}`,
  'a key of AWS': `AKIA${'Q3W4E5R6T7Z8U9I0'}`,
};
const all = Object.values(secrets);
/** What no provider is asked with. */
export const witness = 'aardvark';
const piecesOf = (text: string, length: number) => text.match(new RegExp(`.{1,${length}}`, 'gs')) ?? [];
export const planted = `${witness} ${all.join(' ')} ${witness}.`;

export type GroupFields = Partial<NonNullable<ConfigInput['groups']>[number]>;

/** `group`: more of its fields. */
export function configOf(upstream: ScriptedUpstream, group: GroupFields): ConfigInput {
  const policy = { retries: 0, fallbacks: 0 };
  return {
    version: 1,
    providers: [
      { ...mainProvider(upstream.baseUrl), askUsage: false },
      {
        id: 'google',
        dialect: 'gemini',
        baseUrl: `${upstream.origin}/v1beta`,
        credentials: [{ id: 'c1' }],
        models: ['gem'],
      },
      { id: 'aws', dialect: 'bedrock', baseUrl: upstream.origin, credentials: [{ id: 'c1' }], models: ['nova'] },
      { id: 'unasked', baseUrl: upstream.baseUrl, credentials: [{ id: 'c1' }], models: ['never'] },
    ],
    groups: [{ id: 'default', policy, passthrough: 'main', ...group }],
    keys: [
      { id: 'k1', group: 'default', hash: hashOf(key) },
      { id: 'k2', group: 'default', hash: hashOf(secrets['another key of the gateway'] ?? '') },
    ],
  };
}

export const storedSecrets = {
  'provider/main/c1': secrets['the credential of the provider'] ?? '',
  'provider/google/c1': secrets['the credential of the provider'] ?? '',
  'provider/aws/c1': 'ABSKQmVkcm9ja0FQSUtleS10ZXN0',
  'provider/unasked/c1': secrets['the credential of a provider that was not asked'] ?? '',
};

interface Planting {
  path: string;
  body?: object | string;
  headers?: Record<string, string>;
  method?: string;
  answer: Script;
}

const messages = [{ role: 'user', content: planted }];
/** One conversation, as each API's clients send it. */
const clients: Readonly<Record<string, (isStream: boolean, model: string) => Omit<Planting, 'answer'>>> = {
  chat: (stream, model) => ({ path: '/v1/chat/completions', body: { model, stream, messages } }),
  messages: (stream, model) => ({ path: '/v1/messages', body: { model, stream, max_tokens: 99, messages } }),
  responses: (stream, model) => ({ path: '/v1/responses', body: { model, stream, store: false, input: planted } }),
  gemini: (stream, model) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: planted }] }] },
  }),
};

/** How an event of a stream may be written. */
const framings: Readonly<Record<string, (data: string) => string>> = {
  'line feeds': (data) => `data: ${data}\n\n`,
  'carriage returns and line feeds': (data) => `data: ${data}\r\n\r\n`,
  'carriage returns': (data) => `data: ${data}\r\r`,
  'blanks in the JSON': (data) => `data: ${data.replaceAll('":', '": ').replaceAll(',"', ', "')}\n\n`,
  'ids and names': (data) => `id: 7\nevent: message\ndata: ${data}\n\n`,
  'no blank after the colon': (data) => `data:${data}\n\n`,
  'several lines of data': (data) => `data: ${lines(data).join('\ndata: ')}\n\n`,
  'letters as escapes': (data) => `data: ${data.replace(/(?<="(?:content|text)":")[^"]*/, escaped)}\n\n`,
};
const lines = (data: string) => JSON.stringify(JSON.parse(data), null, 1).split('\n');
const escaped = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const lengths = [1, 7, 25];

function chatStream(frame: (data: string) => string, length: number): Script {
  const choices = [
    ...piecesOf(planted, length).map((content) => ({ delta: { content } })),
    { delta: {}, finish_reason: 'stop' },
  ];
  const events = choices.map((choice) => ({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, ...choice }],
  }));
  return (_request, response) => {
    eventStream(response);
    response.end(`${events.map((event) => frame(JSON.stringify(event))).join('')}data: [DONE]\n\n`);
  };
}

function geminiStream(write: (events: readonly string[]) => string, length: number): Script {
  const candidates = [
    ...piecesOf(planted, length).map((text) => ({ content: { role: 'model', parts: [{ text }] } })),
    { content: { role: 'model', parts: [] }, finishReason: 'STOP' },
  ];
  return ({ url }, response) => {
    response.writeHead(200, { 'content-type': url.includes('alt=sse') ? 'text/event-stream' : 'application/json' });
    response.end(write(candidates.map((candidate) => JSON.stringify({ candidates: [candidate] }))));
  };
}

function bedrockStream(length: number): Script {
  const frames = [
    eventFrame('messageStart', { role: 'assistant' }),
    ...piecesOf(planted, length).map((text) =>
      eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    ),
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('messageStop', { stopReason: 'end_turn' }),
  ];
  return (_request, response) => sendFrames(response, frames);
}

const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: JSON.stringify({ at: planted }) } };
const wholeAnswer: Script = (_request, response) =>
  json(response, completion({ content: planted, tool_calls: [call] }), 200, {
    'x-request-id': planted,
    'x-note': planted,
  });
const errors: readonly Script[] = [
  (_request, response) =>
    json(response, { error: { message: planted, code: all[0], type: all[4], param: all[3] } }, 400, {
      'x-request-id': all[1],
    }),
  (_request, response) => response.writeHead(502, { 'content-type': 'text/plain' }).end(planted),
  (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(`{"choices": ${planted}`),
  (_request, response) => {
    eventStream(response);
    response.end(`data: {"error":{"message":${JSON.stringify(planted)},"code":"${all[4]}"}}\n\n`);
  },
];

function* plantings(): Generator<Planting> {
  for (const client of Object.values(clients)) {
    yield { ...client(false, 'gpt-x'), answer: wholeAnswer };
    for (const length of lengths) {
      for (const frame of Object.values(framings))
        yield { ...client(true, 'gpt-x'), answer: chatStream(frame, length) };
      const events = (all: readonly string[]) => all.map((data) => `data: ${data}\r\n\r\n`).join('');
      yield { ...client(true, 'gem'), answer: geminiStream(events, length) };
      yield { ...client(true, 'nova'), answer: bedrockStream(length) };
    }
    for (const answer of errors) for (const isStream of [false, true]) yield { ...client(isStream, 'gpt-x'), answer };
  }
  for (const length of lengths) {
    const asked = clients.gemini?.(true, 'gem') ?? { path: '' };
    const answer = geminiStream((events) => `[${events.join(',\r\n')}\n]`, length);
    yield { ...asked, path: asked.path.replace('?alt=sse', ''), answer };
  }
  for (const secret of all) yield* writtenInPlaces(secret);
  const refusal: Script = (_request, response) =>
    json(response, { error: { message: planted, status: all[4] } }, 429, { 'retry-after': '60', 'x-note': planted });
  yield { path: '/v1/chat/completions', body: { model: 'gem', messages }, answer: refusal };
}

/** Where a client writes one by mistake. */
function* writtenInPlaces(secret: string): Generator<Planting> {
  const answer = wholeAnswer;
  const hello = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] };
  const chat = { path: '/v1/chat/completions', answer };
  yield { ...chat, body: { ...hello, user: secret, metadata: { [secret]: secret }, session_id: secret } };
  yield {
    ...chat,
    body: { ...hello, messages: [{ role: 'system', content: `You are ${secret}` }, ...hello.messages] },
  };
  yield { ...chat, body: { ...hello, tools: [{ type: 'function', function: { name: secret, description: secret } }] } };
  yield { ...chat, body: { ...hello, model: secret } };
  yield { ...chat, body: { ...hello, model: `main/${secret}` } };
  yield { ...chat, body: `{"model": ${secret}` };
  yield { ...chat, path: `${chat.path}?key=${secret}&note=${secret}`, body: hello };
  for (const name of [
    'x-note',
    'user-agent',
    'x-client-request-id',
    'idempotency-key',
    'x-sluice-session',
    'cookie',
    'x-api-key',
  ])
    yield { ...chat, body: hello, headers: { [name]: secret } };
  for (const path of [`/v1/files/${secret}`, `/v1/responses/${secret}`, `/v1/nothing/${secret}`, `/${secret}`])
    yield { path, method: 'GET', answer };
}

/** Sends all of them. Returns what Sluice said of itself: its errors and headers. */
export async function plant(sluice: TestGateway, upstream: ScriptedUpstream): Promise<string[]> {
  const said: string[] = [];
  let id = '';
  for (const { path, method = 'POST', body, headers, answer } of plantings()) {
    upstream.answer(answer);
    const before = upstream.seen.length;
    const response = await fetch(sluice.origin + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (upstream.seen.length === before) said.push(text, JSON.stringify([...response.headers]));
    id = response.headers.get('x-sluice-request-id') ?? id;
  }
  await eventually(async () => {
    const { requests } = await sluice.gateway.query({ type: 'requests', limit: 50 });
    return requests.find((request) => request.id === id)?.outcome ?? null;
  });
  return said;
}

/** Names of the secrets of which a text holds a part, and the part with what is around it. */
export function leaksIn(text: string): string[] {
  const small = text.toLowerCase();
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = [secret, ...[0, 1, 2].map((shift) => base64Of(secret, shift))];
    for (const form of forms.map((each) => each.toLowerCase())) {
      for (let start = 0; start + partLength <= form.length; start += partStep) {
        const at = small.indexOf(form.slice(start, start + partLength));
        if (at !== -1) return [`${name}: …${text.slice(Math.max(0, at - 60), at + 60)}…`];
      }
    }
    return [];
  });
}
/** A part of 15 or more characters holds one of these. Shorter ones open nothing. */
const [partLength, partStep] = [12, 4];

function base64Of(secret: string, shift: number): string {
  const text = Buffer.from(' '.repeat(shift) + secret).toString('base64');
  return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + secret.length) * 8) / 6));
}

/** The answers to all queries that tell of requests. A new kind of query must be entered here. */
export async function queried({ gateway }: Pick<TestGateway, 'gateway'>): Promise<Record<string, string>> {
  const { requests } = await gateway.query({ type: 'requests', limit: 1_000 });
  const { sessions } = await gateway.query({ type: 'sessions', limit: 200 });
  const sinceMs = 0;
  const overTime = { sinceMs: Date.now() - 3_600_000, untilMs: Date.now() + 1, stepMs: 60_000 };
  const asked: { [Q in QueryType]: readonly QueryInputMap[Q][] | 'nothing of requests' } = {
    status: [{ type: 'status' }],
    providers: [{ type: 'providers' }],
    keys: [{ type: 'keys' }],
    groups: [{ type: 'groups' }],
    caches: [{ type: 'caches' }],
    cassettes: [{ type: 'cassettes' }],
    models: [{ type: 'models', key: 'k1' }],
    prices: [{ type: 'prices' }],
    route: [{ type: 'route', key: 'k1', model: 'gpt-x' }],
    requests: [
      { type: 'requests', limit: 1_000 },
      ...all.map((search) => ({ type: 'requests' as const, filter: { search } })),
    ],
    'request-count': all.map((search) => ({ type: 'request-count', filter: { search } })),
    'request-names': (['model', 'client', 'provider', 'capability', 'status'] as const).map((of) => ({
      type: 'request-names',
      of,
    })),
    request: requests.map(({ id }) => ({ type: 'request', id })),
    'request-texts': requests.map(({ id }) => ({ type: 'request-texts', ids: [id] })),
    pins: [{ type: 'pins' }],
    sessions: [{ type: 'sessions' }],
    session: sessions.map(({ id }) => ({ type: 'session', id })),
    refusals: [{ type: 'refusals' }],
    clients: [{ type: 'clients' }],
    panel: [{ type: 'panel', sinceMs }],
    usage: (['day', 'model'] as const).map((by) => ({ type: 'usage', by })),
    'usage-over-time': (['day', 'model'] as const).map((by) => ({ type: 'usage-over-time', by, ...overTime })),
    'first-byte-times': [{ type: 'first-byte-times', by: 'model', ...overTime }],
    config: [{ type: 'config' }],
    presets: 'nothing of requests',
    'local-servers': 'nothing of requests',
    'environment-credentials': 'nothing of requests',
    'provider-test': 'nothing of requests',
    'find-keys': 'nothing of requests',
    'find-groups': 'nothing of requests',
    'group-preview': 'nothing of requests',
    aliases: 'nothing of requests',
    'connect-clients': 'nothing of requests',
    'connect-preview': 'nothing of requests',
    'connect-undo-preview': 'nothing of requests',
    'adopt-preview': 'nothing of requests',
    'import-preview': 'nothing of requests',
    'team-preset-preview': 'nothing of requests',
    'who-am-i': 'nothing of requests',
    'join-preset': 'nothing of requests',
    people: 'nothing of requests',
    tokens: 'nothing of requests',
    scim: 'nothing of requests',
    audit: 'nothing of requests',
    host: 'nothing of requests',
    network: 'nothing of requests',
  };
  const answers: Record<string, string> = {};
  for (const [name, questions] of Object.entries(asked)) {
    if (questions === 'nothing of requests') continue;
    const texts = await Promise.all(questions.map((question) => gateway.query(question)));
    answers[`the query ${name}`] = JSON.stringify(texts);
  }
  return answers;
}

/** Everything in the files of a folder, whatever they are called: their bytes, and the rows and words of databases. */
export function filesIn(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  return Object.fromEntries(
    paths.map((path) => {
      const bytes = readFileSync(path);
      const isDatabase = bytes.toString('latin1', 0, 15) === 'SQLite format 3';
      return [relative(folder, path), `${bytes.toString('latin1')}${isDatabase ? rowsOf(path) : ''}`];
    }),
  );
}

/** SQLite spreads long values over its pages, so that their bytes are not together in the file. */
function rowsOf(path: string): string {
  const database = new DatabaseSync(path);
  const tables = database.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table'").all();
  const texts = tables.map(({ name, sql }) => {
    if (!String(sql).includes('USING fts5'))
      return database.prepare(`SELECT * FROM "${name}"`).all().map(textOf).join('\n');
    database.exec(`CREATE VIRTUAL TABLE temp.words_of_${name} USING fts5vocab(main, '${name}', 'row')`);
    return database.prepare(`SELECT term FROM temp.words_of_${name}`).all().map(textOf).join('\n');
  });
  database.close();
  return texts.join('\n');
}

/** The values of a row, bytes as text. */
export function textOf(row: object): string {
  return Object.values(row)
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : JSON.stringify(value)))
    .join(' ');
}
