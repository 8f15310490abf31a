/** The spans of requests: one of kind SERVER for each request, and below it one of kind CLIENT for each attempt. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { ISerializer } from '@opentelemetry/otlp-transformer';
import { countOf, isFailed, verdictOf } from '../contract/count.ts';
import type { AttemptRecord, RequestRecord, Usage } from '../contract/ledger.ts';
import { type Conventions, operationName, type ServiceNames, serviceAttributes } from './gen-ai.ts';
import type { RequestTracer, RequestTracing, TraceHeaders } from './request-tracing.ts';

const propagator = new W3CTraceContextPropagator();

export function createRequestTracer(ports: SpanPorts): RequestTracer {
  const { tracer, service, conventions } = ports;
  return {
    begin: (headers, startedAt) => new RequestSpans(ports, headers, startedAt),
    billed(record) {
      const { provider, model, usage, costUsd } = countOf(record).whole;
      if (provider === null) return;
      const { usageCertainty } = record;
      const operation = operationName(record.capability);
      const span = tracer.startSpan(model === null ? operation : `${operation} ${model}`, {
        kind: SpanKind.CLIENT,
        startTime: record.startedAt,
        root: true,
      });
      span.setAttributes({
        'gen_ai.operation.name': operation,
        ...serviceAttributes(service(provider)),
        ...withoutNulls({
          ...sessionAttributes(record),
          'sluice.request.id': record.id,
          'sluice.group': record.groupId,
          'sluice.key': record.keyId,
          'sluice.provider': provider,
          'gen_ai.request.model': model,
          ...billAttributes({ usage, usageCertainty, costUsd }, conventions),
        }),
      });
      span.end(record.startedAt + record.totalMs);
    },
  };
}

interface SpanPorts {
  tracer: Tracer;
  service(id: string): ServiceNames;
  conventions: Conventions;
}

class RequestSpans implements RequestTracing {
  readonly #ports: SpanPorts;
  readonly #span: Span;
  readonly #context: Context;
  readonly #attempts: { record: AttemptRecord; span: Span }[] = [];

  constructor(ports: SpanPorts, headers: IncomingHttpHeaders, startedAt: number) {
    this.#ports = ports;
    const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    this.#span = ports.tracer.startSpan('request', { kind: SpanKind.SERVER, startTime: startedAt }, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  attempt(record: AttemptRecord): TraceHeaders {
    const options = { kind: SpanKind.CLIENT, startTime: record.startedAt };
    const span = this.#ports.tracer.startSpan('attempt', options, this.#context);
    this.#attempts.push({ record, span });
    const headers: TraceHeaders = { traceparent: '' };
    propagator.inject(trace.setSpan(this.#context, span), headers, defaultTextMapSetter);
    return headers;
  }

  finished(request: RequestRecord, factsOf: FactsOf): void {
    const endedAt = request.startedAt + request.totalMs;
    for (const { record, span } of this.#attempts) {
      span.setAttributes(factAttributes(factsOf(record)));
      this.#endAttempt(span, record, request);
    }
    const span = this.#span;
    span.updateName(`${request.method} ${request.route}`);
    span.setAttributes(requestAttributes(request));
    // By OpenTelemetry's conventions for HTTP servers, a client's error is not an error of the server span.
    if (isFailed(request) && (request.status ?? 500) >= 500) {
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(endedAt);
  }

  #endAttempt(span: Span, record: AttemptRecord, request: RequestRecord): void {
    const operation = operationName(request.capability);
    // A call about a job names no model; its bill does.
    const model = record.model ?? request.modelAsked;
    span.updateName(model === null ? operation : `${operation} ${model}`);
    span.setAttributes({
      'gen_ai.operation.name': operation,
      ...serviceAttributes(this.#ports.service(record.provider)),
      ...(request.stream && { 'gen_ai.request.stream': true }),
      ...withoutNulls(sessionAttributes(request)),
      ...attemptAttributes({ ...record, model }, this.#ports.conventions),
    });
    if (record.failure !== null && record.failure !== 'client-gone') {
      // Omits the error's text, because providers may repeat the prompt in it.
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(record.totalMs === null ? request.startedAt + request.totalMs : record.startedAt + record.totalMs);
  }
}

function requestAttributes(request: RequestRecord): Attributes {
  return withoutNulls({
    'http.request.method': request.method,
    'http.route': request.route,
    'http.response.status_code': request.status,
    'error.type': request.outcome === 'ok' ? null : (request.errorCode ?? request.outcome),
    'sluice.request.id': request.id,
    ...sessionAttributes(request),
    'sluice.group': request.groupId,
    'sluice.key': request.keyId,
    'sluice.outcome': verdictOf(request),
    'sluice.model.asked': request.modelAsked,
    'sluice.attempts': request.attempts.length,
    'sluice.queue_ms': request.queueMs === null ? null : asDouble(request.queueMs),
  });
}

/**
 * A digest, as in `SessionView`. The conventions define `gen_ai.conversation.id`; Langfuse and Phoenix group by
 * `session.id`.
 */
function sessionAttributes({ session }: RequestRecord): Record<string, string | null> {
  const id = session?.id ?? null;
  return { 'session.id': id, 'gen_ai.conversation.id': id };
}

function attemptAttributes(record: AttemptRecord, conventions: Conventions): Attributes {
  return withoutNulls({
    'gen_ai.request.model': record.model,
    'http.response.status_code': record.status,
    'error.type': record.failure,
    ...billAttributes(record, conventions),
    'gen_ai.response.time_to_first_chunk':
      record.firstContentMs === null ? null : asDouble(record.firstContentMs / 1_000),
    'sluice.provider': record.provider,
    'sluice.attempt.cause': record.cause,
    'sluice.upstream.request_id': record.upstreamRequestId,
  });
}

type FactsOf = Parameters<RequestTracing['finished']>[1];

function factAttributes(facts: ReturnType<FactsOf>): Attributes {
  if (facts === null) return {};
  const { temperature, maxTokens, id, model, finishReasons } = facts;
  return {
    ...withoutNulls({
      'gen_ai.request.temperature': temperature === null ? null : asDouble(temperature),
      'gen_ai.request.max_tokens': maxTokens,
      'gen_ai.response.id': id,
      'gen_ai.response.model': model,
    }),
    ...(finishReasons.length > 0 && { 'gen_ai.response.finish_reasons': [...finishReasons] }),
  };
}

function billAttributes(
  { usage, usageCertainty, costUsd }: Pick<AttemptRecord, 'usage' | 'usageCertainty' | 'costUsd'>,
  conventions: Conventions,
) {
  return {
    ...usageAttributes(usage, conventions),
    'sluice.usage.certainty': usage === null ? null : usageCertainty,
    'sluice.cost_usd': costUsd === null ? null : asDouble(costUsd),
  };
}

function usageAttributes(usage: Usage | null, conventions: Conventions): Record<string, number | null> {
  const written = conventions === 'current' ? 'cache_write' : 'cache_creation';
  return {
    'gen_ai.usage.input_tokens': usage?.inputTokens ?? null,
    'gen_ai.usage.output_tokens': usage?.outputTokens ?? null,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens ?? null,
    [`gen_ai.usage.${written}.input_tokens`]: usage?.cacheWriteTokens ?? null,
    'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens ?? null,
  };
}

function withoutNulls(attributes: Record<string, string | number | null>): Attributes {
  const nonNull: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== null) nonNull[name] = value;
  return nonNull;
}

// Attributes that are doubles. The SDK writes a number without a fraction as an integer, so that one attribute would have
// two types, of which stores such as ClickHouse take one. It is therefore given other numbers, which have a fraction, and
// what it has written is put right.

const doubles = [
  'gen_ai.request.temperature',
  'gen_ai.response.time_to_first_chunk',
  'sluice.cost_usd',
  'sluice.queue_ms',
] as const;

/** A power of two, so that nothing is rounded. */
const scale = 2 ** -600;
const zero = 2 ** -1_000;

/** What the SDK is given for the value of an attribute in the list above. */
function asDouble(value: number): number {
  return value === 0 ? zero : value * scale;
}

const restored = (written: number) => (written === zero ? 0 : written / scale);

export function writingDoubles<Items, Answer>(
  serializer: ISerializer<Items, Answer>,
  isJson: boolean,
): Pick<ISerializer<Items, Answer>, 'serializeRequest'> {
  return {
    serializeRequest(items) {
      const written = serializer.serializeRequest(items);
      if (!written) return written;
      const bytes = Buffer.from(written.buffer, written.byteOffset, written.byteLength);
      return isJson ? Buffer.from(inJson(bytes.toString())) : inProtobuf(bytes);
    },
  };
}

/** Within a text, quotation marks would be escaped. */
const attribute =
  /("key":"(?:gen_ai\.re(?:quest\.temperature|sponse\.time_to_first_chunk)|sluice\.(?:cost_usd|queue_ms))","value":\{"doubleValue":)([-+.\de]{1,30})/g;

function inJson(json: string): string {
  return json.replaceAll(attribute, (_, before: string, value: string) => before + restored(Number(value)));
}

/** A `KeyValue` with its name, and an `AnyValue` of nine bytes, of which the first says that a double comes. */
const headers = doubles.map((name) =>
  Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name), Buffer.from([0x12, 9, 0x21])]),
);

function inProtobuf(bytes: Buffer): Buffer {
  for (const header of headers) {
    for (let at = bytes.indexOf(header); at !== -1; at = bytes.indexOf(header, at + 1)) {
      const value = at + header.length;
      if (value + 8 <= bytes.length) bytes.writeDoubleLE(restored(bytes.readDoubleLE(value)), value);
    }
  }
  return bytes;
}
