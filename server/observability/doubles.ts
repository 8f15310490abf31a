/**
 * Attributes that are doubles. The SDK writes a number without a fraction as an integer, so that one attribute would have
 * two types, of which stores such as ClickHouse take one. It is therefore given other numbers, which have a fraction, and
 * what it has written is put right.
 */
import type { ISerializer } from '@opentelemetry/otlp-transformer';

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
export function asDouble(value: number): number {
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
