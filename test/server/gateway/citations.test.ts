/** The pages that an answer cites, from each API to the official SDK of each API, whole and in a stream of single bytes. */
import type { ServerResponse } from 'node:http';
import type OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import * as converse from '../../support/strict-bedrock.ts';
import { bedrockKey, eventFrame } from '../../support/strict-bedrock.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

const pieces = ['Hallo 🚀, ', 'größer wird es 🌍', ' – und „schön“ ist ', 'die Straße 🗼'] as const;
const [greeting, growing, between, street] = pieces;
const text = pieces.join('');
const rocket = { url: 'https://example.com/rakete?größe=1', title: 'Größe 🚀' };
const tower = { url: 'https://example.org/turm', title: 'Turm' };

/** What a client can read of a citation; `said` is null for one without a place. */
interface Told {
  url: string;
  title: string;
  said: string | null;
}

const cited: Told[] = [
  { ...rocket, said: growing },
  { ...tower, said: street },
];
const unplaced: Told[] = [
  { ...rocket, said: null },
  { ...tower, said: null },
];

interface Form {
  model: string;
  config: Json;
  secret: string;
  whole: Json;
  stream: Buffer;
  told: Told[];
}

const indexes = (piece: string, from = 0) => {
  const start = text.indexOf(piece) - from;
  return { start_index: start, end_index: start + piece.length };
};
const nested = (page: Json, place: Json) => ({ type: 'url_citation', url_citation: { ...page, ...place } });
const flat = (page: Json, place: Json) => ({ type: 'url_citation', ...page, ...place });
const lines = (...events: Json[]) => Buffer.from(events.map((event) => chat.dataLine(event)).join(''));

const annotations = [nested(rocket, indexes(growing)), nested(tower, indexes(street))];
const contents = pieces.map((content) => ({ content }));
const listed = { search_results: [rocket, { ...tower, date: '2026-01-01' }], citations: [rocket.url, tower.url] };
const choice = (delta: Json, finish: string | null = null) => ({ index: 0, delta, finish_reason: finish });
const listing = (delta: Json, finish: string | null = null) => ({
  id: 'c1',
  ...listed,
  choices: [choice(delta, finish)],
});

const chatConfig = { config: { serves: ['chat'] }, secret: 'k' };
const chatForms: Record<string, Form> = {
  'a chat': {
    ...chatConfig,
    model: 'gpt-x',
    whole: chat.completion({ content: text, annotations }),
    stream: Buffer.from(
      chat.streamOf([...contents, { annotations: [annotations[0]] }, { annotations: [annotations[1]] }]),
    ),
    told: cited,
  },
  'a chat that repeats them flatly in each chunk': {
    ...chatConfig,
    model: 'gpt-flat',
    whole: chat.completion({ content: text, annotations: [flat(rocket, indexes(growing)), ...annotations] }),
    stream: Buffer.from(chat.streamOf(contents.map((content) => ({ ...content, annotations })))),
    told: cited,
  },
  'a chat that lists its sources': {
    ...chatConfig,
    model: 'sonar',
    whole: { ...chat.completion({ content: text }), ...listed },
    stream: Buffer.concat([
      lines(...contents.map((content) => listing(content)), listing({}, 'stop')),
      Buffer.from('data: [DONE]\n\n'),
    ]),
    told: unplaced,
  },
};

const [first, second] = [greeting, growing + between + street];
const flatOnes = [rocket, tower].map((page, at) => flat(page, indexes(at === 0 ? growing : street, greeting.length)));
const part = (said: string, of: Json[]) => ({ type: 'output_text', text: said, annotations: of, logprobs: [] });
const item = { ...responses.messageWith(''), id: 'msg_1', content: [part(first, []), part(second, flatOnes)] };
const response = responses.responseWith([responses.reasoningWith('Hm. 🤔'), item]);
const at = { item_id: 'msg_1', output_index: 1 };
const outputDelta = (content_index: number, delta: string) =>
  responses.event('response.output_text.delta', { ...at, content_index, delta });
const added = flatOnes.map((annotation, annotation_index) =>
  responses.event('response.output_text.annotation.added', { ...at, content_index: 1, annotation_index, annotation }),
);
const begun = [
  responses.event('response.created', { response: { ...response, output: [], status: 'in_progress' } }),
  responses.event('response.output_item.done', { output_index: 0, item: responses.reasoningWith('Hm. 🤔') }),
  responses.event('response.output_item.added', { output_index: 1, item: { ...item, content: [] } }),
  outputDelta(0, greeting),
  outputDelta(1, growing),
];
const completed = responses.event('response.completed', { response });
const responsesConfig = { config: { serves: ['responses'] }, secret: 'k', whole: response, told: cited };
const responsesForms: Record<string, Form> = {
  'a response': {
    ...responsesConfig,
    model: 'gpt-5.4',
    stream: Buffer.from(
      [
        ...begun,
        added[0],
        outputDelta(1, between + street),
        added[1],
        responses.event('response.content_part.done', { ...at, content_index: 1, part: part(second, flatOnes) }),
        responses.event('response.output_item.done', { output_index: 1, item }),
        completed,
      ].join(''),
    ),
  },
  'a response that has them only at its end': {
    ...responsesConfig,
    model: 'gpt-5.4-late',
    stream: Buffer.from(
      [
        ...begun,
        outputDelta(1, between + street),
        responses.event('response.output_item.done', {
          output_index: 1,
          item: { ...item, content: [part(first, []), part(second, [])] },
        }),
        completed,
      ].join(''),
    ),
  },
};

const found = (page: Json) => ({
  type: 'web_search_result_location',
  cited_text: 'x',
  encrypted_index: 'Eo8=',
  ...page,
});
const blocks = [
  anthropic.text(greeting),
  { type: 'text', text: growing, citations: [found(rocket)] },
  anthropic.text(between),
  { type: 'text', text: street, citations: [found(tower)] },
];
/** @param isEarly whether the citations come before the text */
function blockEvents(index: number, { text: said, citations = [] }: Json, isEarly: boolean): string {
  const delta = (value: Json) => anthropic.event({ type: 'content_block_delta', index, delta: value });
  const half = Math.ceil(String(said).length / 2);
  const texts = [String(said).slice(0, half), String(said).slice(half)].map((each) => delta(textDelta(each)));
  const sources = (citations as Json[]).map((citation) => delta({ type: 'citations_delta', citation }));
  return [
    anthropic.event({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
    ...(isEarly ? [...sources, ...texts] : [...texts, ...sources]),
    anthropic.event({ type: 'content_block_stop', index }),
  ].join('');
}
const textDelta = (said: string) => ({ type: 'text_delta', text: said });
const messageStream = (isEarly: boolean) =>
  Buffer.from(
    [anthropic.begun, ...blocks.map((block, index) => blockEvents(index, block, isEarly)), anthropic.ending()].join(''),
  );
const anthropicConfig = { config: { dialect: 'anthropic' }, secret: anthropic.anthropicKey, told: cited };
const anthropicForms: Record<string, Form> = Object.fromEntries(
  [true, false].map((isEarly) => [
    `a message with citations ${isEarly ? 'before' : 'after'} the texts`,
    {
      ...anthropicConfig,
      model: isEarly ? 'claude-early' : 'claude-late',
      whole: anthropic.message(blocks),
      stream: messageStream(isEarly),
    },
  ]),
);

const bytes = (said: string) => Buffer.byteLength(said);
const segment = (piece: string, more: Json = {}) => {
  const startIndex = bytes(text.slice(0, text.indexOf(piece)));
  return { ...more, startIndex, endIndex: startIndex + bytes(piece), text: piece };
};
const grounding = (more: Json = {}) => ({
  groundingChunks: [{ web: { uri: rocket.url, title: rocket.title } }, { web: { uri: tower.url, title: tower.title } }],
  groundingSupports: [
    { segment: segment(growing, more), groundingChunkIndices: [0], confidenceScores: [0.9] },
    { segment: segment(street, more), groundingChunkIndices: [1] },
  ],
  webSearchQueries: ['größe'],
});
const thought = { text: 'Hm. 🤔', thought: true };
const grounded = (answer: Json, groundingMetadata: Json) => {
  const [candidate] = answer.candidates as Json[];
  return { ...answer, candidates: [{ ...candidate, groundingMetadata }] };
};
const geminiForms: Record<string, Form> = {
  Gemini: {
    model: 'gemini-3-pro',
    config: { dialect: 'gemini' },
    secret: gemini.geminiKey,
    whole: grounded(gemini.answered([thought, { text }]), grounding({ partIndex: 1 })),
    stream: lines(
      gemini.generated([thought]),
      ...pieces.slice(0, -1).map((said) => gemini.generated([{ text: said }])),
      grounded(gemini.answered([{ text: street }]), grounding()),
    ),
    told: cited,
  },
};

const webCitation = ({ url, title }: Json) => ({ title, location: { web: { url, domain: 'example.com' } } });
const citing = (said: string, page: Json) => ({
  citationsContent: { content: [{ text: said }], citations: [webCitation(page)] },
});
const delta = (contentBlockIndex: number, value: Json) =>
  eventFrame('contentBlockDelta', { contentBlockIndex, delta: value });
const converseStream = Buffer.concat([
  eventFrame('messageStart', { role: 'assistant' }),
  ...pieces.flatMap((said, index) => {
    const page = index === 1 ? rocket : tower;
    const sources = index % 2 === 1 ? [delta(index, { citation: webCitation(page) })] : [];
    return [delta(index, { text: said }), ...sources, eventFrame('contentBlockStop', { contentBlockIndex: index })];
  }),
  eventFrame('messageStop', { stopReason: 'end_turn' }),
  eventFrame('metadata', { usage: converse.converseUsage, metrics: { latencyMs: 5 } }),
]);
const converseForms: Record<string, Form> = {
  Converse: {
    model: 'amazon.nova-2-lite-v1:0',
    config: { dialect: 'bedrock' },
    secret: bedrockKey,
    whole: converse.answerWith([{ text: greeting }, citing(growing, rocket), { text: between }, citing(street, tower)]),
    stream: converseStream,
    told: cited,
  },
};

const forms = { ...chatForms, ...responsesForms, ...anthropicForms, ...geminiForms, ...converseForms };
const eventStreams: Json = { bedrock: 'application/vnd.amazon.eventstream' };

function tell(response: ServerResponse, form: Form, isStream: boolean): void {
  if (!isStream) {
    json(response, form.whole);
    return;
  }
  const { dialect } = form.config;
  response.writeHead(200, { 'content-type': String(eventStreams[String(dialect)] ?? 'text/event-stream') });
  void sendPieces(response, form.stream, [...form.stream.keys()].slice(1));
}

let gateway: TestGateway;
const upstreams: ScriptedUpstream[] = [];

beforeAll(async () => {
  const configs = [];
  for (const [index, form] of Object.values(forms).entries()) {
    const upstream = await startUpstream((request, response) => {
      const isStream = /"stream":true/.test(request.body.toString()) || /stream/i.test(request.url);
      tell(response, form, isStream);
    });
    upstreams.push(upstream);
    const { dialect } = form.config;
    const path = dialect === undefined ? '/v1' : dialect === 'gemini' ? '/v1beta' : '';
    configs.push(mainProvider(upstream.origin + path, { id: `p${index}`, models: [form.model], ...form.config }));
  }
  const secrets = Object.values(forms).map(({ secret }, index) => [`provider/p${index}/c1`, secret]);
  gateway = await startGateway({ config: { providers: configs }, secrets: Object.fromEntries(secrets) });
});
afterEach(() => {
  for (const upstream of upstreams) upstream.seen.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});

interface Heard {
  text: string;
  told: Told[];
}

const question = 'Wie groß?';
const asked = { role: 'user' as const, content: question };

/** A place of nothing is none. */
const saidAt = (all: string, { start_index: start, end_index: end }: { start_index: number; end_index: number }) =>
  end === 0 ? null : all.slice(start, end);

async function askChat(model: string, isStream: boolean): Promise<Heard> {
  const { completions } = gateway.client.chat;
  const request = { model, messages: [asked] };
  const whole = isStream ? await completions.stream(request).finalChatCompletion() : await completions.create(request);
  const message = whole.choices[0]?.message;
  const all = message?.content ?? '';
  const told = (message?.annotations ?? []).map(({ url_citation: citation }) => {
    const { url, title } = citation;
    return { url, title, said: saidAt(all, citation) };
  });
  return { text: all, told };
}

type OutputText = OpenAI.Responses.ResponseOutputText;

async function askResponses(model: string, isStream: boolean): Promise<Heard> {
  const { responses: client } = gateway.client;
  const request = { model, input: question, store: false };
  const added: unknown[] = [];
  let whole: OpenAI.Responses.Response;
  if (isStream) {
    const stream = client.stream(request);
    stream.on('response.output_text.annotation.added', ({ annotation }) => added.push(annotation));
    whole = await stream.finalResponse();
  } else whole = await client.create(request);
  const texts = whole.output
    .flatMap((each) => (each.type === 'message' ? each.content : []))
    .filter((each): each is OutputText => each.type === 'output_text');
  if (isStream) expect(added).toEqual(texts.flatMap((each) => each.annotations));
  const told = texts.flatMap(({ text: all, annotations: list }) =>
    list.flatMap((each) =>
      each.type === 'url_citation' ? [{ url: each.url, title: each.title, said: saidAt(all, each) }] : [],
    ),
  );
  return { text: whole.output_text, told };
}

async function askGemini(model: string, isStream: boolean): Promise<Heard> {
  const { models } = geminiAt(gateway);
  const request = { model, contents: question };
  const stream = isStream ? await models.generateContentStream(request) : [await models.generateContent(request)];
  const heard: Heard = { text: '', told: [] };
  for await (const chunk of stream) {
    heard.text += chunk.text ?? '';
    const { groundingChunks = [], groundingSupports } = chunk.candidates?.[0]?.groundingMetadata ?? {};
    const page = (index: number) => {
      const { uri = '', title = '' } = groundingChunks[index]?.web ?? {};
      return { url: uri, title };
    };
    const supported = (groundingSupports ?? []).map(({ segment: place, groundingChunkIndices = [] }) => {
      // A whole answer counts in one part, which here is the only one that is no thought.
      const said = Buffer.from(heard.text).subarray(place?.startIndex, place?.endIndex).toString();
      expect(place?.text).toBe(said);
      return { ...page(groundingChunkIndices[0] ?? -1), said };
    });
    heard.told.push(...(groundingSupports ? supported : groundingChunks.map((_, at) => ({ ...page(at), said: null }))));
  }
  return heard;
}

const clients = {
  chats: { ask: askChat, same: chatForms },
  responses: { ask: askResponses, same: responsesForms },
  Gemini: { ask: askGemini, same: geminiForms },
};
/** What has the client's own form passes as it came. */
const formsBeside = (same: Record<string, Form>) => Object.entries(forms).filter(([name]) => !(name in same));

describe.each(Object.entries(clients))('a client of %s', (_name, { ask, same }) => {
  test.each(formsBeside(same))('gets the pages that %s cites, whole and streamed', async (_form, { model, told }) => {
    expect(await ask(model, false)).toEqual({ text, told });
    expect(await ask(model, true)).toEqual({ text, told });
  });
});

test.each(formsBeside(anthropicForms))(
  'a client of Anthropic is told that the citations of %s are missing',
  async (_form, { model }) => {
    const { messages } = claudeAt(gateway);
    const { response } = await messages.create({ model, max_tokens: 100, messages: [asked] }).withResponse();
    expect(response.headers.get('x-sluice-dropped')).toContain('citations;why=provider-item');
  },
);

const elsewhere = { file_id: 'file-1', filename: 'größe.pdf', index: 3 };
const notes = {
  'a file in a chat': chat.completion({
    content: text,
    annotations: [{ type: 'file', file: { hash: 'a', name: 'x' } }],
  }),
  'a file of a response': responses.responseWith([
    { ...item, content: [part(text, [{ type: 'file_citation', ...elsewhere }])] },
  ]),
  'a document of a message': anthropic.message([
    { type: 'text', text, citations: [{ type: 'char_location', cited_text: 'x', document_index: 0 }] },
  ]),
  'a file of Gemini': grounded(gemini.answered([{ text }]), {
    groundingChunks: [{ retrievedContext: { title: 'größe.pdf', text: 'x' } }],
    groundingSupports: [{ segment: segment(growing), groundingChunkIndices: [0] }],
  }),
  'a document of Converse': converse.answerWith([
    { citationsContent: { content: [{ text }], citations: [{ location: { documentChar: { documentIndex: 0 } } }] } },
  ]),
};
const wires = [chatForms, responsesForms, anthropicForms, geminiForms, converseForms];

test.each(Object.entries(notes).map(([name, whole], index) => ({ name, whole, index })))(
  'that $name is cited, which has no address, is told as lost',
  async ({ whole, index }) => {
    const [form] = Object.values(wires[index] ?? {});
    if (!form) throw new Error('There is no such form.');
    const before = form.whole;
    form.whole = whole;
    const { body, dropped } = index === 0 ? await whatIsTold('responses', form) : await whatIsTold('chat', form);
    form.whole = before;
    expect(body).toContain(growing);
    expect(body).not.toContain('_citation');
    expect(dropped).toMatch(/^(annotations|citations|groundingMetadata);why=provider-item$/);
  },
);

async function whatIsTold(
  api: 'chat' | 'responses',
  { model }: Form,
): Promise<{ body: string; dropped: string | null }> {
  const { chat: chats, responses: client } = gateway.client;
  const { data, response: head } =
    api === 'chat'
      ? await chats.completions.create({ model, messages: [asked] }).withResponse()
      : await client.create({ model, input: question, store: false }).withResponse();
  return { body: JSON.stringify(data), dropped: head.headers.get('x-sluice-dropped') };
}

const called = (given: string) => ({
  tool_calls: [{ ...chat.toolCall('call_1', 'look', {}), index: 0, function: { name: 'look', arguments: given } }],
});
const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }];

/** Makes the chat end in a call, and then cite. */
function endingIn(given: string, finish: string): { model: string; restore(): void } {
  const form = chatForms['a chat'];
  if (!form) throw new Error('There is no such form.');
  const { model, stream } = form;
  form.stream = Buffer.from(chat.streamOf([...contents, called(given), { annotations }], finish));
  return {
    model,
    restore: () => {
      form.stream = stream;
    },
  };
}

test.each([
  { end: 'ended by a call', given: '{"place":"Köln"}', finish: 'tool_calls', status: 'completed' },
  { end: 'whose last call the limit cut off', given: '{"place":"Kö', finish: 'length', status: 'incomplete' },
])('a text $end has its citations in the response', async ({ given, finish, status }) => {
  const form = endingIn(given, finish);
  const added: unknown[] = [];
  const request = { model: form.model, input: question, store: false, tools };
  let whole: OpenAI.Responses.Response | undefined;
  for await (const event of await gateway.client.responses.create({ ...request, stream: true })) {
    if (event.type === 'response.output_text.annotation.added') added.push(event);
    if (event.type === 'response.completed' || event.type === 'response.incomplete') whole = event.response;
  }
  form.restore();
  const [said] = whole?.output ?? [];
  expect(whole?.status).toBe(status);
  expect(said).toMatchObject({
    type: 'message',
    content: [{ annotations: [flat(rocket, indexes(growing)), flat(tower, indexes(street))] }],
  });
  const position = { item_id: said?.id, output_index: 0, content_index: 0 };
  expect(added).toMatchObject([
    { ...position, annotation_index: 0, annotation: { url: rocket.url } },
    { ...position, annotation_index: 1, annotation: { url: tower.url } },
  ]);
});

test('a call that the limit cut off and citations after it are no error for a client of Gemini', async () => {
  const { model, restore } = endingIn('{"place":"Kö', 'length');
  const functions = [{ name: 'look', parametersJsonSchema: { type: 'object' } }];
  const request = { model, contents: question, config: { tools: [{ functionDeclarations: functions }] } };
  const candidates = [];
  for await (const chunk of await geminiAt(gateway).models.generateContentStream(request))
    candidates.push(chunk.candidates?.[0]);
  restore();
  expect(candidates.at(-1)).toMatchObject({
    finishReason: 'MAX_TOKENS',
    groundingMetadata: { groundingSupports: [{ segment: segment(growing) }, { segment: segment(street) }] },
  });
});

test('a chat that brings its annotations back loses nothing by it', async () => {
  const { completions } = gateway.client.chat;
  const { choices } = await completions.create({ model: 'claude-late', messages: [asked] });
  const message = choices[0]?.message ?? asked;
  expect(message).toHaveProperty('annotations');
  for (const { model } of [...Object.values(anthropicForms), ...Object.values(geminiForms)]) {
    const { response } = await completions.create({ model, messages: [asked, message, asked] }).withResponse();
    expect(response.headers.get('x-sluice-dropped')).toBeNull();
  }
});

test('a response that brings its annotations back loses nothing by it', async () => {
  const { responses: client } = gateway.client;
  const { output } = await client.create({ model: 'gemini-3-pro', input: question, store: false });
  const messages = output.filter((each) => each.type === 'message');
  for (const { model } of [...Object.values(anthropicForms), ...Object.values(chatForms)]) {
    const request = { model, input: [asked, ...messages, asked], store: false };
    const { response } = await client.create(request).withResponse();
    expect(response.headers.get('x-sluice-dropped')).toBeNull();
  }
});
