/**
 * The providers of a day: one for each API of `usage-upstreams.ts`, two of which the first breaks off its streams, and one
 * for embeddings, images, sound and responses in the background. Each answers a request as the plan says for its number.
 */
import type { ServerResponse } from 'node:http';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { type Call, wholes } from '../../support/metered-replies.ts';
import { randomNumbers } from '../../support/random-numbers.ts';
import { startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';
import type { Api } from '../../support/usage-told.ts';
import { type UsageUpstream, usageUpstreams } from '../../support/usage-upstreams.ts';
import type { Json } from '../apis/translation/translating.ts';
import { type Counts, realtimeUsage, responsesUsage, usageObjects } from './run-day.ts';

/** What becomes of the calls of a request. */
export type Course = 'well' | 'untold' | 'rejected' | 'failing' | 'broken' | 'rescued' | 'stumbling' | 'gone' | 'reset';

export interface Answering {
  course: Course;
  counts: Counts;
}

export interface Providers {
  config: NonNullable<ConfigInput['providers']>;
  secrets: Record<string, string>;
  stop(): Promise<void>;
}

export const rescuedModel = 'gpt-rescued';
/** An alias of the two below: the stream of one with a price breaks off, and one without continues it. */
export const halfPricedModel = 'half-priced';
export const pricedAtFirst = 'gpt-rescued-too';
export const mediaModels = ['embedder', 'moderator', 'painter', 'transcriber', 'gpt-background'] as const;
export const realtimeModel = 'gpt-realtime';
/** Without a price. */
export const unpricedModel = 'of-no-price';
export const unpricedAtSecond = 'of-no-price-either';

const words = 'All work and no play, und so weiter. '.repeat(20);

/** The number of a request is in its text, whatever API it is in. */
export const numbered = (number: number) => `This is request ${number}.`;
const numberIn = ({ body }: SeenRequest) => Number(/This is request (\d+)\./.exec(body.toString('latin1'))?.[1]);

export async function startProviders(plan: ReadonlyMap<number, Answering>): Promise<Providers> {
  const answeringOf = (request: SeenRequest) => plan.get(numberIn(request)) ?? { course: 'well', counts: noCounts };
  const upstreams: { stop(): Promise<void> }[] = [];
  const config: Providers['config'] = [];
  const add = (id: string, upstream: ScriptedUpstream, more: Json & { basePath: string; models: string[] }) => {
    const { basePath, models, ...rest } = more;
    upstreams.push(upstream);
    config.push({ id, baseUrl: upstream.origin + basePath, credentials: [{ id: 'c1' }], models, ...rest });
  };
  const stumbled = new Set<number>();
  for (const [id, api] of Object.entries<UsageUpstream>(usageUpstreams)) {
    const upstream = await startUpstream((request, response) => {
      const { course, counts } = answeringOf(request);
      const isFirst = course === 'stumbling' && !stumbled.has(numberIn(request));
      stumbled.add(numberIn(request));
      return answer(api, usageObjects[id as Api], { request, response, counts, course: isFirst ? 'broken' : course });
    });
    const models = id === 'chat' ? [api.model, unpricedModel] : [api.model];
    add(id, upstream, { basePath: api.basePath, models, ...api.config });
  }
  for (const id of ['first', 'second'] as const) {
    const upstream = await startUpstream((request, response) => {
      const answering = answeringOf(request);
      const course = id === 'first' ? 'broken' : 'well';
      return answer(usageUpstreams.chat, usageObjects.chat, { request, response, ...answering, course });
    });
    add(id, upstream, {
      basePath: '/v1',
      models: id === 'first' ? [rescuedModel, pricedAtFirst] : [rescuedModel, unpricedAtSecond],
      serves: ['chat'],
      askUsage: true,
    });
  }
  const media = await startUpstream((request, response) => answerMedia(request, response, answeringOf(request)));
  add('media', media, { basePath: '/v1', models: [...mediaModels] });
  const live = await startRealtimeUpstream();
  live.onSession((session) => {
    session.socket.on('message', (bytes) => {
      const { counts } = plan.get(Number(/"event_id":"n(\d+)"/.exec(String(bytes))?.[1])) ?? { counts: noCounts };
      const send = (type: string, response: Json) =>
        session.socket.send(JSON.stringify({ type, event_id: 'e', response: { id: 'r1', ...response } }));
      send('response.created', {});
      send('response.done', { status: 'completed', usage: realtimeUsage(counts) });
    });
  });
  upstreams.push(live);
  config.push({ id: 'live', baseUrl: live.baseUrl, credentials: [{ id: 'c1' }], models: [realtimeModel] });
  const secrets = config.map(({ id }) => [
    `provider/${id}/c1`,
    id in usageUpstreams ? usageUpstreams[id as Api].secret : 'upstream-secret',
  ]);
  return {
    config,
    secrets: Object.fromEntries(secrets),
    async stop() {
      for (const upstream of upstreams) await upstream.stop();
    },
  };
}

const noCounts: Counts = { input: 1, cached: 0, written: 0, output: 1, reasoning: 0 };

interface Asked extends Answering {
  request: SeenRequest;
  response: ServerResponse;
}

async function answer(
  api: UsageUpstream,
  usageOf: (counts: Counts) => Json,
  { request, response, course, counts }: Asked,
): Promise<void> {
  if (course === 'rejected' || course === 'failing') {
    json(response, { error: { message: 'No.', type: 'invalid_request_error' } }, course === 'rejected' ? 400 : 500);
    return;
  }
  if (course === 'reset') {
    response.destroy();
    return;
  }
  const isStream = /stream/i.test(request.url) || request.body.includes('"stream":true');
  const said = { text: words, usage: course === 'untold' ? {} : usageOf(counts) };
  const bytes = isStream ? api.stream(said) : Buffer.from(JSON.stringify(api.whole(said)));
  response.writeHead(200, { 'content-type': isStream ? api.streamType : 'application/json' });
  if (!isStream || (course !== 'broken' && course !== 'gone')) {
    response.end(bytes);
    return;
  }
  // The first piece of text, without the event that has the usage.
  response.write(bytes.subarray(0, bytes.indexOf('\n\n', bytes.indexOf('All work')) + 2));
  if (course === 'broken') setImmediate(() => response.destroy());
}

function answerMedia(request: SeenRequest, response: ServerResponse, { counts }: Answering): void {
  const { url, body } = request;
  const path = url.replace(/^\/v1/, '');
  if (path.startsWith('/responses')) {
    answerInBackground(path, response, { number: numberIn(request), counts });
    return;
  }
  const text = body.toString('latin1');
  const number = numberIn(request);
  const call: Call = {
    ...{ path, text, number, provider: 'media', model: 'm', key: '', group: '', course: 'well', before: 0 },
    ...{ isStream: false, random: randomNumbers(number) },
  };
  const whole = wholes[path]?.(call);
  json(response, whole?.body ?? { error: { message: `Nothing is known of ${path}.` } }, whole ? 200 : 418);
}

/** A response ends as soon as it is asked for. Its id has what it used. */
function answerInBackground(path: string, response: ServerResponse, asked: { number: number; counts: Counts }): void {
  const id = path.split('/')[2];
  const frame = { object: 'response', created_at: 1, model: 'gpt-background', error: null, output: [] };
  if (id === undefined) {
    const { input, output } = asked.counts;
    json(response, { ...frame, id: `resp_${asked.number}_${input}_${output}`, status: 'queued', usage: null });
    return;
  }
  const [, , input, output] = id.split('_').map(Number);
  const counts = { ...noCounts, input: input ?? 0, output: output ?? 0 };
  json(response, { ...frame, id, status: 'completed', usage: responsesUsage(counts) });
}
