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
import { isError } from '../contract/condition.ts';
import { countOf } from '../contract/count.ts';
import type { AttemptRecord, RequestRecord, Usage } from '../contract/ledger.ts';
import { asDouble } from './doubles.ts';
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
    if (isError(request) && (request.status ?? 500) >= 500) {
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
    'sluice.outcome': request.outcome,
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
