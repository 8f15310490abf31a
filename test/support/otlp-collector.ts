/** An OTLP/HTTP collector on loopback. It decodes deliveries into OTLP's JSON form. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// Reads the parts of OTLP's protobuf messages that tests check. Field numbers: opentelemetry-proto, `trace.proto`,
// `metrics.proto`, `logs.proto`.

/** The values of each field number, in order: a number of fixed or variable length as a bigint, or bytes. */
type Message = Map<number, (bigint | Buffer)[]>;

export function readProtobufTraces(bytes: Buffer): JsonTraces {
  return {
    resourceSpans: messages(read(bytes), 1).map((resourceSpans) => ({
      resource: { attributes: attributes(messages(resourceSpans, 1)[0] ?? new Map(), 1) },
      scopeSpans: messages(resourceSpans, 2).map((scope) => ({
        spans: messages(scope, 2).map((span) => ({
          traceId: data(span, 1).toString('hex'),
          spanId: data(span, 2).toString('hex'),
          parentSpanId: data(span, 4).toString('hex'),
          name: data(span, 5).toString(),
          kind: Number(whole(span, 6)),
          startTimeUnixNano: String(whole(span, 7)),
          endTimeUnixNano: String(whole(span, 8)),
          attributes: attributes(span, 9),
          status: { code: Number(whole(messages(span, 15)[0] ?? new Map(), 3)) },
        })),
      })),
    })),
  };
}

export function readProtobufMetrics(bytes: Buffer): JsonMetrics {
  return {
    resourceMetrics: messages(read(bytes), 1).map((resourceMetrics) => ({
      scopeMetrics: messages(resourceMetrics, 2).map((scope) => ({
        metrics: messages(scope, 2).map((metric) => ({
          name: data(metric, 1).toString(),
          unit: data(metric, 3).toString(),
          histogram: {
            dataPoints: messages(metric, 9)
              .flatMap((histogram) => messages(histogram, 1))
              .map((point) => ({
                count: String(whole(point, 4)),
                sum: double(point, 5),
                attributes: attributes(point, 9),
              })),
          },
        })),
      })),
    })),
  };
}

export function readProtobufLogs(bytes: Buffer): JsonLogs {
  return {
    resourceLogs: messages(read(bytes), 1).map((resourceLogs) => ({
      resource: { attributes: attributes(messages(resourceLogs, 1)[0] ?? new Map(), 1) },
      scopeLogs: messages(resourceLogs, 2).map((scope) => ({
        logRecords: messages(scope, 2).map((record) => ({
          timeUnixNano: String(whole(record, 1)),
          severityNumber: Number(whole(record, 2)),
          eventName: data(record, 12).toString(),
          body: { stringValue: data(messages(record, 5)[0] ?? new Map(), 1).toString() },
          attributes: attributes(record, 6),
        })),
      })),
    })),
  };
}

function attributes(message: Message, field: number): JsonAttribute[] {
  return messages(message, field).map((attribute) => ({
    key: data(attribute, 1).toString(),
    value: anyValue(messages(attribute, 2)[0] ?? new Map()),
  }));
}

function anyValue(value: Message): JsonValue {
  return {
    ...(value.has(1) && { stringValue: data(value, 1).toString() }),
    ...(value.has(2) && { boolValue: whole(value, 2) === 1n }),
    ...(value.has(3) && { intValue: String(BigInt.asIntN(64, whole(value, 3))) }),
    ...(value.has(4) && { doubleValue: double(value, 4) }),
    ...(value.has(5) && { arrayValue: { values: messages(messages(value, 5)[0] ?? new Map(), 1).map(anyValue) } }),
  };
}

function read(bytes: Buffer): Message {
  const message: Message = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('a protobuf message ends too early');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => {
    const part = bytes.subarray(at, at + length);
    if (part.length < length) throw new Error('a protobuf message ends too early');
    at += length;
    return part;
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const value = fieldValue(tag & 7, varint, take);
    const field = tag >>> 3;
    message.set(field, [...(message.get(field) ?? []), value]);
  }
  return message;
}

function fieldValue(type: number, varint: () => bigint, take: (length: number) => Buffer): bigint | Buffer {
  if (type === 0) return varint();
  if (type === 1) return take(8);
  if (type === 2) return take(Number(varint()));
  if (type === 5) return take(4);
  throw new Error(`a protobuf field of type ${type}`);
}

function data(message: Message, field: number): Buffer {
  const value = message.get(field)?.[0];
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function messages(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((value) => {
    if (!Buffer.isBuffer(value)) throw new Error(`field ${field} is no message`);
    return read(value);
  });
}

function whole(message: Message, field: number): bigint {
  const value = message.get(field)?.[0] ?? 0n;
  return Buffer.isBuffer(value) ? value.readBigUInt64LE() : value;
}

function double(message: Message, field: number): number {
  const bytes = data(message, field);
  return bytes.length === 8 ? bytes.readDoubleLE() : 0;
}

export type AttributeValue = string | number | boolean | (string | number | boolean)[];

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
  /** The names of those that are doubles. */
  doubles: string[];
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
  value: JsonValue;
}

interface JsonValue {
  stringValue?: string;
  intValue?: string | number;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: JsonValue[] };
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
        doubles: span.attributes.filter(({ value }) => value.doubleValue !== undefined).map(({ key }) => key),
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
    attributes.map(({ key, value }) => [
      key,
      value.arrayValue ? value.arrayValue.values.map(scalarOf) : scalarOf(value),
    ]),
  );
}

function scalarOf({ stringValue, intValue, doubleValue, boolValue }: JsonValue): string | number | boolean {
  return stringValue ?? boolValue ?? doubleValue ?? Number(intValue);
}
