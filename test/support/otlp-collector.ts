/** An OTLP/HTTP collector on loopback. It decodes deliveries into OTLP's JSON form. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readProtobufLogs, readProtobufMetrics, readProtobufTraces } from './otlp-protobuf.ts';

export type AttributeValue = string | number | boolean;

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** 2: server, 3: client. */
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, AttributeValue>;
  /** 2: error. */
  statusCode: number;
  resource: Record<string, AttributeValue>;
}

export interface CollectedPoint {
  metric: string;
  unit: string;
  count: number;
  sum: number;
  attributes: Record<string, AttributeValue>;
}

export interface CollectedLog {
  event: string;
  atMs: number;
  /** 9: information. */
  severity: number;
  body: string;
  attributes: Record<string, AttributeValue>;
  resource: Record<string, AttributeValue>;
}

export interface Delivery {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface OtlpCollector {
  readonly origin: string;
  readonly deliveries: Delivery[];
  readonly spans: CollectedSpan[];
  /** Data points of histograms; each export contains the totals since the start. */
  readonly points: CollectedPoint[];
  readonly logs: CollectedLog[];
  /** Answers the next deliveries with these statuses, in order, and later ones with 200. */
  refuse(...statuses: number[]): void;
  stop(): Promise<void>;
}

/** As in OTLP's JSON form. */
export interface JsonAttribute {
  key: string;
  value: { stringValue?: string; intValue?: string | number; doubleValue?: number; boolValue?: boolean };
}

export interface JsonTraces {
  resourceSpans: {
    resource: { attributes: JsonAttribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes: JsonAttribute[];
        status?: { code?: number };
      }[];
    }[];
  }[];
}

export interface JsonMetrics {
  resourceMetrics: {
    scopeMetrics: {
      metrics: {
        name: string;
        unit?: string;
        histogram?: { dataPoints: { count: string | number; sum?: number; attributes: JsonAttribute[] }[] };
      }[];
    }[];
  }[];
}

export interface JsonLogs {
  resourceLogs: {
    resource: { attributes: JsonAttribute[] };
    scopeLogs: {
      logRecords: {
        timeUnixNano: string;
        severityNumber: number;
        eventName: string;
        body: { stringValue?: string };
        attributes: JsonAttribute[];
      }[];
    }[];
  }[];
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const deliveries: Delivery[] = [];
  const spans: CollectedSpan[] = [];
  const points: CollectedPoint[] = [];
  const logs: CollectedLog[] = [];
  let refusals: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const delivery = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
    deliveries.push(delivery);
    const status = refusals.shift() ?? 200;
    if (status === 200) take(delivery, { spans, points, logs });
    answer(response, status);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    deliveries,
    spans,
    points,
    logs,
    refuse: (...statuses) => {
      refusals = statuses;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
}

function take(
  { path, headers, body }: Delivery,
  { spans, points, logs }: Pick<OtlpCollector, 'spans' | 'points' | 'logs'>,
): void {
  const isJson = headers['content-type'] === 'application/json';
  if (path.endsWith('/v1/traces')) {
    spans.push(...spansOf(isJson ? JSON.parse(body.toString()) : readProtobufTraces(body)));
  } else if (path.endsWith('/v1/metrics')) {
    points.push(...pointsOf(isJson ? JSON.parse(body.toString()) : readProtobufMetrics(body)));
  } else if (path.endsWith('/v1/logs')) {
    logs.push(...logsOf(isJson ? JSON.parse(body.toString()) : readProtobufLogs(body)));
  } else throw new Error(`nothing is collected at ${path}`);
}

function spansOf({ resourceSpans }: JsonTraces): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        attributes: valuesOf(span.attributes),
        statusCode: span.status?.code ?? 0,
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function pointsOf({ resourceMetrics }: JsonMetrics): CollectedPoint[] {
  return resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ name, unit = '', histogram }) =>
        (histogram?.dataPoints ?? []).map(({ count, sum = 0, attributes }) => ({
          metric: name,
          unit,
          count: Number(count),
          sum,
          attributes: valuesOf(attributes),
        })),
      ),
    ),
  );
}

function logsOf({ resourceLogs }: JsonLogs): CollectedLog[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map(({ timeUnixNano, severityNumber, eventName, body, attributes }) => ({
        event: eventName,
        atMs: Number(timeUnixNano) / 1e6,
        severity: severityNumber,
        body: body.stringValue ?? '',
        attributes: valuesOf(attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly JsonAttribute[]): Record<string, AttributeValue> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? boolValue ?? doubleValue ?? Number(intValue),
    ]),
  );
}
