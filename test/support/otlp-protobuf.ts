/**
 * Reads the parts of OTLP's protobuf messages that tests check. Field numbers: opentelemetry-proto, `trace.proto`,
 * `metrics.proto`, `logs.proto`.
 */
import type { JsonAttribute, JsonLogs, JsonMetrics, JsonTraces } from './otlp-collector.ts';

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
  return messages(message, field).map((attribute) => {
    const value = messages(attribute, 2)[0] ?? new Map();
    return {
      key: data(attribute, 1).toString(),
      value: {
        ...(value.has(1) && { stringValue: data(value, 1).toString() }),
        ...(value.has(2) && { boolValue: whole(value, 2) === 1n }),
        ...(value.has(3) && { intValue: String(BigInt.asIntN(64, whole(value, 3))) }),
        ...(value.has(4) && { doubleValue: double(value, 4) }),
      },
    };
  });
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
