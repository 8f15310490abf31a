/** The clients of a day: send what is planned, and note what each is told. */
import { type TestGateway, testKey } from '../../support/gateway.ts';
import { connectRealtime } from '../../support/realtime-upstream.ts';
import { type Client, type ClientName, clients, eventsOf, type Told } from '../../support/usage-told.ts';
import { usageUpstreams } from '../../support/usage-upstreams.ts';
import type { Json } from '../apis/translation/translating.ts';
import type { KeyName, MediaKind, Play } from './plan.ts';
import { halfPricedModel, numbered, realtimeModel, rescuedModel, unpricedModel } from './providers.ts';

/** What a client was told. */
export interface Answer {
  play: Play;
  /** Null if the client gets no answer to its request, as in a realtime session. */
  requestId: string | null;
  status: number;
  headers: Headers;
  /** The usage in the answer, if there is one. */
  told: Partial<Told> | undefined;
}

export const secretOf = (key: KeyName) => (key === 'plain' ? testKey : `sk-of ${key}`);

export function send(sluice: TestGateway, play: Play): Promise<Answer[]> {
  const { kind } = play.what;
  if (kind === 'talk') return talk(sluice, play);
  if (kind === 'background') return inBackground(sluice, play);
  return kind === 'realtime' ? inSession(sluice, play) : ofMedia(sluice, play, kind);
}

function headersOf({ key, session, fault }: Play): Record<string, string> {
  return {
    'x-api-key': secretOf(key),
    ...(session !== null && { 'x-sluice-session': session }),
    ...(fault !== undefined && { 'x-sluice-fault': fault }),
  };
}

function post(sluice: TestGateway, play: Play, { path, body }: { path: string; body: Json }): Promise<Response> {
  const more = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
  return fetch(sluice.origin + path, {
    method: 'POST',
    headers: { ...headersOf(play), ...more },
    body: JSON.stringify(body),
  });
}

const answered = (play: Play, response: Response, told?: Partial<Told>): Answer => ({
  ...{ play, status: response.status, headers: response.headers, told },
  requestId: response.headers.get('x-sluice-request-id'),
});

async function talk(sluice: TestGateway, play: Play): Promise<Answer[]> {
  if (play.what.kind !== 'talk') throw new Error('unreachable');
  const { api, client: name, stream, model: special } = play.what;
  const models = {
    unpriced: unpricedModel,
    rescued: rescuedModel,
    'half-priced': halfPricedModel,
    unknown: 'nobody-serves-it',
  };
  const model = special ? models[special] : usageUpstreams[api].model;
  const client: Client = clients[name];
  const text = numbered(play.repeats ?? play.number);
  const { stream_options: options, ...plain } = { ...client.body, ...promptOf(name, text) } as Json;
  const body: Json = {
    ...plain,
    ...(name !== 'gemini' && { model, ...(stream && { stream }) }),
    ...(stream && options !== undefined && { stream_options: options }),
    ...(play.key === 'cached' && { temperature: 0 }),
  };
  const response = await post(sluice, play, { path: client.path(model, stream), body });
  if (play.course === 'gone') {
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return [answered(play, response)];
  }
  if (play.course === 'broken') {
    await response.text().catch(() => 'cut off');
    return [answered(play, response)];
  }
  const answer = await response.text();
  if (response.status !== 200) return [answered(play, response)];
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const said = isStream ? eventsOf(answer) : [JSON.parse(answer) as Json];
  return [answered(play, response, toldIn(client, said))];
}

function promptOf(name: ClientName, text: string): Json {
  const messages = [{ role: 'user', content: text }];
  if (name === 'gemini') return { contents: [{ role: 'user', parts: [{ text }] }] };
  return name === 'responses' ? { input: messages } : { messages };
}

/** Later counts replace earlier ones: Claude's own streams tell the input at the start and the output at the end. */
function toldIn(client: Client, said: readonly Json[]): Told | undefined {
  const started = said.find(({ type }) => type === 'message_start')?.message as Json | undefined;
  const usages = [started?.usage as Json | undefined, ...said.map(client.usageIn)].filter((usage) => usage);
  const known = usages.map((usage) => Object.entries(usage ?? {}).filter(([, value]) => value !== null));
  return known.length === 0 ? undefined : client.told(Object.fromEntries(known.flat()));
}

async function ofMedia(sluice: TestGateway, play: Play, kind: MediaKind): Promise<Answer[]> {
  const text = numbered(play.number);
  if (kind === 'transcriptions') {
    const form = new FormData();
    for (const [name, value] of [
      ['model', 'transcriber'],
      ['prompt', text],
    ] as const)
      form.append(name, value);
    form.append('file', new Blob(['sound']), 'sound.mp3');
    const path = `${sluice.baseUrl}/audio/transcriptions`;
    const response = await fetch(path, { method: 'POST', headers: headersOf(play), body: form });
    await response.arrayBuffer();
    return [answered(play, response)];
  }
  const bodies = {
    embeddings: { path: '/v1/embeddings', body: { model: 'embedder', input: text } },
    moderations: { path: '/v1/moderations', body: { model: 'moderator', input: text } },
    images: { path: '/v1/images/generations', body: { model: 'painter', prompt: text, n: 1 + (play.number % 3) } },
  };
  const response = await post(sluice, play, bodies[kind]);
  const { usage } = (await response.json()) as { usage?: Record<string, number> };
  const input = usage?.prompt_tokens ?? usage?.input_tokens;
  return [answered(play, response, input === undefined ? undefined : { input, output: usage?.output_tokens ?? -1 })];
}

async function inBackground(sluice: TestGateway, play: Play): Promise<Answer[]> {
  const body = { model: 'gpt-background', input: numbered(play.number), background: true };
  const created = await post(sluice, play, { path: '/v1/responses', body });
  const { id } = (await created.json()) as { id: string };
  const got = await fetch(`${sluice.baseUrl}/responses/${id}`, { headers: headersOf(play) });
  const response = (await got.json()) as Json;
  return [answered(play, created), answered(play, got, toldIn(clients.responses, [response]))];
}

async function inSession(sluice: TestGateway, play: Play): Promise<Answer[]> {
  const path = `/v1/realtime?model=${realtimeModel}`;
  const client = await connectRealtime(sluice, { path, headers: { authorization: `Bearer ${secretOf(play.key)}` } });
  client.socket.send(JSON.stringify({ type: 'response.create', event_id: `n${play.number}` }));
  const { response } = await client.event(1);
  client.socket.close(1000);
  await client.ended();
  const told = toldIn(clients.responses, [response as Json]);
  return [{ play, requestId: null, status: 101, headers: new Headers(), told }];
}
