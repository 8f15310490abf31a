import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider } from '../../support/gateway.ts';
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from '../../support/otlp-collector.ts';
import { connectRealtime, startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, type ControlGatewayOptions, startControlGateway } from '../control/control-gateway.ts';

const usage = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } };
const good = {
  id: 'x',
  object: 'chat.completion',
  model: 'gpt-4o',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'planted answer' } }],
  usage,
};
const broken = { error: { message: 'no', type: 'server_error', code: 'server_error' } };

let upstream: ScriptedUpstream;
let collector: OtlpCollector;
let sluice: ControlGateway;

beforeEach(async () => {
  upstream = await startUpstream((_request, response) => json(response, good));
  collector = await startOtlpCollector();
});
afterEach(async () => {
  await sluice.stop();
  await collector.stop();
  await upstream.stop();
});

async function start(telemetry: object = {}, options: ControlGatewayOptions = {}): Promise<void> {
  sluice = await startControlGateway({
    secrets: { 'provider/main/c1': 'upstream-secret' },
    ...options,
    config: {
      providers: [{ ...mainProvider(upstream.baseUrl), preset: 'openai' }],
      groups: [{ id: 'default', policy: { retries: 1, fallbacks: 0 } }],
      settings: { telemetry: { endpoint: collector.origin, ...telemetry } },
      ...options.config,
    },
  });
}

function ask(headers: Record<string, string> = {}, body: object = {}): Promise<Response> {
  return sluice.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'planted question' }], ...body }),
  });
}

/** All spans. The gateway sends the remaining ones when it stops. */
async function collected(): Promise<CollectedSpan[]> {
  await sluice.gateway.stop(1_000);
  return collector.spans;
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const clientSpan = 'b7ad6b7169203331';

/** The tokens of these spans, by model. */
const billsOf = (spans: readonly CollectedSpan[]) =>
  spans
    .map(({ attributes }) => [
      attributes['gen_ai.request.model'],
      attributes['gen_ai.usage.input_tokens'],
      attributes['gen_ai.usage.output_tokens'],
    ])
    .filter(([, input]) => input !== undefined);

test('the responses of a realtime session have spans with their tokens', async () => {
  const live = await startRealtimeUpstream();
  const providers = [mainProvider(live.baseUrl)];
  await start({}, { config: { providers, settings: { telemetry: { endpoint: collector.origin } } } });
  const client = await connectRealtime(sluice);
  const session = await live.session();
  client.socket.send(JSON.stringify({ type: 'response.create' }));
  const response = { id: 'r1', status: 'completed', usage: { total_tokens: 15, input_tokens: 10, output_tokens: 5 } };
  session.socket.send(JSON.stringify({ type: 'response.created', response: { id: 'r1' } }));
  session.socket.send(JSON.stringify({ type: 'response.done', response }));
  await client.event(1);
  client.socket.close(1000);
  await client.ended();
  expect(billsOf(await collected())).toEqual([['gpt-realtime', 10, 5]]);
  await live.stop();
});

test('the bill of a response in the background that its client asked for has a span', async () => {
  const object = { id: 'resp_1', object: 'response', model: 'gpt-4o', output: [] };
  upstream.answer(({ method }, response) =>
    json(
      response,
      method === 'POST'
        ? { ...object, status: 'queued', usage: null }
        : { ...object, status: 'completed', usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } },
    ),
  );
  await start();
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const body = JSON.stringify({ model: 'gpt-4o', input: 'planted question', background: true });
  await (await sluice.fetch('/responses', { ...init, body })).text();
  await (await sluice.fetch('/responses/resp_1')).text();
  expect(billsOf(await collected())).toEqual([['gpt-4o', 10, 5]]);
});

describe.each(['http/protobuf', 'http/json'])('spans over %s', (protocol) => {
  test('show the request and each attempt, with the conventions for generative AI', async () => {
    upstream.answer((_request, response) => {
      if (upstream.seen.length === 1) json(response, broken, 500);
      else json(response, good);
    });
    await start({ protocol });
    await (await ask()).text();
    const spans = await collected();
    const [request, ...attempts] = [...spans].sort((one, other) => Number(other.kind === 2) - Number(one.kind === 2));
    expect(spans.length).toBe(3);
    expect(request).toMatchObject({
      name: 'POST /v1/chat/completions',
      kind: 2,
      parentSpanId: '',
      statusCode: 0,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/chat/completions',
        'http.response.status_code': 200,
        'sluice.group': 'default',
        'sluice.key': 'k1',
        'sluice.model.asked': 'gpt-4o',
        'sluice.attempts': 2,
      },
      resource: { 'service.name': 'sluice' },
    });
    const [failed, answered] = attempts.sort(
      (one, other) => one.startMs - other.startMs || other.statusCode - one.statusCode,
    );
    const shared = {
      name: 'chat gpt-4o',
      kind: 3,
      traceId: request?.traceId,
      parentSpanId: request?.spanId,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o',
        'sluice.provider': 'main',
      },
    };
    expect(failed).toMatchObject({ ...shared, statusCode: 2 });
    expect(failed?.attributes).toMatchObject({ 'error.type': 'transient', 'http.response.status_code': 500 });
    expect(answered).toMatchObject({ ...shared, statusCode: 0 });
    expect(answered?.attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 40,
      'sluice.attempt.cause': 'retry',
    });
    for (const span of spans) expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
    const contentType = protocol === 'http/json' ? 'application/json' : 'application/x-protobuf';
    expect(collector.deliveries.every(({ headers }) => headers['content-type'] === contentType)).toBe(true);
  });

  test('come with the metrics of the conventions', async () => {
    await start({ protocol });
    await (await ask()).text();
    await collected();
    const about = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
    };
    const { port } = new URL(upstream.origin);
    const told = { ...about, 'server.address': '127.0.0.1', 'server.port': Number(port) };
    const pointOf = (metric: string) => collector.points.find((each) => each.metric === metric);
    const inference = 'gen_ai.client.inference';
    expect(pointOf(`${inference}.duration`)).toMatchObject({ unit: 's', count: 1, attributes: told });
    expect(pointOf(`${inference}.operation.input_tokens`)).toMatchObject({
      unit: '{token}',
      sum: 100,
      attributes: told,
    });
    expect(pointOf(`${inference}.operation.output_tokens`)).toMatchObject({ sum: 20 });
    expect(collector.points.filter(({ metric }) => metric.startsWith('gen_ai.client.operation'))).toEqual([]);
  });

  test('keep the names of 1.41 where that is set', async () => {
    await start({ protocol, conventions: '1.41' });
    await (await ask()).text();
    const spans = await collected();
    const pointOf = (metric: string, type?: string) =>
      collector.points.find(
        (each) => each.metric === metric && (type === undefined || each.attributes['gen_ai.token.type'] === type),
      );
    expect(pointOf('gen_ai.client.operation.duration')).toMatchObject({ unit: 's', count: 1 });
    expect(pointOf('gen_ai.client.token.usage', 'input')).toMatchObject({ unit: '{token}', sum: 100 });
    expect(pointOf('gen_ai.client.token.usage', 'output')).toMatchObject({ sum: 20 });
    expect(collector.points.filter(({ metric }) => metric.startsWith('gen_ai.client.inference'))).toEqual([]);
    expect(spans.find(({ kind }) => kind === 3)?.attributes).not.toHaveProperty(['gen_ai.request.stream']);
  });
});

describe('the trace of the client', () => {
  test('goes on through the request and the attempt to the upstream', async () => {
    await start();
    const state = 'vendor=opaque';
    await (await ask({ traceparent: `00-${traceId}-${clientSpan}-01`, tracestate: state })).text();
    const spans = await collected();
    const request = spans.find(({ kind }) => kind === 2);
    const attempt = spans.find(({ kind }) => kind === 3);
    expect(request).toMatchObject({ traceId, parentSpanId: clientSpan });
    expect(attempt).toMatchObject({ traceId, parentSpanId: request?.spanId });
    expect(upstream.seen[0]?.headers).toMatchObject({
      traceparent: `00-${traceId}-${attempt?.spanId}-01`,
      tracestate: state,
    });
  });

  test('is begun where the client has none, or one that cannot be read', async () => {
    await start();
    await (await ask({ traceparent: 'nonsense', tracestate: 'left=behind' })).text();
    const attempt = (await collected()).find(({ kind }) => kind === 3);
    expect(attempt?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(upstream.seen[0]?.headers.traceparent).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`);
    expect(upstream.seen[0]?.headers.tracestate).toBeUndefined();
  });

  test('has no spans if the client does not sample it, and still goes on', async () => {
    await start();
    await (await ask({ traceparent: `00-${traceId}-${clientSpan}-00` })).text();
    expect(await collected()).toEqual([]);
    expect(upstream.seen[0]?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  });

  test('passes unchanged while telemetry is off', async () => {
    await start({ endpoint: null });
    const traceparent = `00-${traceId}-${clientSpan}-01`;
    await (await ask({ traceparent, tracestate: 'vendor=opaque' })).text();
    expect(upstream.seen[0]?.headers).toMatchObject({ traceparent, tracestate: 'vendor=opaque' });
    await collected();
    expect(collector.deliveries).toEqual([]);
  });
});

describe('telemetry', () => {
  test('names the session of a request in each of its spans, and not as the client does', async () => {
    upstream.answer((_request, response) => json(response, good));
    await start();
    await (await ask({ 'x-sluice-session': 'planted session' })).text();
    await (await ask()).text();
    const spans = await collected();
    const ids = spans.map(({ attributes }) => attributes['session.id']).filter((id) => id !== undefined);
    expect(ids).toEqual([expect.stringMatching(/^ses_[0-9a-f]{16}$/), ids[0]]);
    expect(spans.map(({ attributes }) => attributes['gen_ai.conversation.id'])).toEqual(
      spans.map(({ attributes }) => attributes['session.id']),
    );
    expect(JSON.stringify(spans)).not.toContain('planted');
  });

  test('measures the first token of a stream', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(`data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: 'one' } }] })}\n\n`);
      response.write(`data: ${JSON.stringify({ id: 'x', choices: [], usage })}\n\n`);
      response.end('data: [DONE]\n\n');
    });
    await start();
    await (await ask({}, { stream: true })).text();
    const attempt = (await collected()).find(({ kind }) => kind === 3);
    expect(attempt?.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThan(0);
    expect(attempt?.attributes).toMatchObject({ 'gen_ai.request.stream': true, 'server.address': '127.0.0.1' });
    const firstChunk = collector.points.find(({ metric }) => metric === 'gen_ai.client.inference.time_to_first_chunk');
    expect(firstChunk?.count).toBe(1);
  });

  test('sends only the signals that are wanted, with the headers that are set', async () => {
    await start(
      {
        metrics: false,
        endpoint: `${collector.origin}/api/public/otel/`,
        headers: { Authorization: 'env:OTLP', 'X-Version': '4' },
      },
      { ports: { env: { OTLP: 'Basic planted-credential' } } },
    );
    await (await ask()).text();
    await collected();
    expect(collector.deliveries.map(({ path }) => path)).toEqual(['/api/public/otel/v1/traces']);
    expect(collector.deliveries[0]?.headers).toMatchObject({
      authorization: 'Basic planted-credential',
      'x-version': '4',
    });
  });

  test('shows a request that was refused, without attempts', async () => {
    await start();
    await (await ask({}, { model: 7 })).text();
    const spans = await collected();
    expect(spans.map(({ kind }) => kind)).toEqual([2]);
    expect(spans[0]?.attributes['http.response.status_code']).toBe(400);
  });

  test('contains neither secrets nor what was said', async () => {
    upstream.answer((_request, response) =>
      json(response, { error: { message: 'planted reason upstream-secret' } }, 400),
    );
    await start({ protocol: 'http/json' });
    await (await ask({ 'x-title': 'title' })).text();
    await collected();
    const sent = collector.deliveries.map(({ headers, body }) => JSON.stringify(headers) + body.toString()).join('\n');
    expect(sent).toContain('gen_ai.request.model');
    for (const planted of ['planted', 'upstream-secret', 'sk-test', sluice.adminToken]) {
      expect(sent).not.toContain(planted);
    }
  });

  test('follows its settings', async () => {
    await start({ endpoint: null });
    const changes = { telemetry: { endpoint: collector.origin } };
    await sluice.gateway.execute({ type: 'settings.update', changes });
    // The SDK is loaded first; requests do not wait for it.
    await eventually(async () => {
      await (await ask()).text();
      return upstream.seen.at(-1)?.headers.traceparent ?? null;
    });
    await sluice.gateway.execute({ type: 'settings.update', changes: { telemetry: { endpoint: null } } });
    await eventually(async () => {
      await (await ask()).text();
      return upstream.seen.at(-1)?.headers.traceparent === undefined ? true : null;
    });
    await eventually(async () => (collector.spans.length === 2 ? true : null));
  });

  test.each([
    ['a password in the endpoint', { endpoint: 'http://me:secret@127.0.0.1' }],
    ['an endpoint that is no address', { endpoint: 'collector:4318' }],
    ['a secret header in the open', { headers: { authorization: 'Basic abc' } }],
    ['a value that looks like a secret', { headers: { 'x-name': 'sk-aaaaaaaaaaaaaaaaaaaaaaaa' } }],
    ['a header of two lines', { headers: { 'x-name': 'one\r\ntwo' } }],
    ['another protocol', { protocol: 'grpc' }],
  ])('refuses %s', async (_, telemetry) => {
    await start({ endpoint: null });
    const update = sluice.gateway.execute({ type: 'settings.update', changes: { telemetry } as never });
    const message = await update.then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).toMatch(/^telemetry\./);
    expect(message).not.toMatch(/secret@|abc|sk-a/);
  });
});
