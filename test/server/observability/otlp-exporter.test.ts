import { afterEach, beforeEach, expect, test } from 'vitest';
import { OtlpExporter } from '../../../server/observability/telemetry.ts';
import { createAuthorities } from '../../../server/transport/authorities.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import type { Transport } from '../../../server/transport/transport.ts';
import { type OtlpCollector, startOtlpCollector } from '../../support/otlp-collector.ts';

let collector: OtlpCollector;
let transport: Transport;
let failures: string[];

beforeEach(async () => {
  collector = await startOtlpCollector();
  transport = createTransport({ proxies: {}, authorities: createAuthorities(() => ({ system: false, files: [] })) });
  failures = [];
});
afterEach(async () => {
  await transport.close();
  await collector.stop();
});

function exporter() {
  return new OtlpExporter<string>(
    {
      transport,
      url: `${collector.origin}/v1/traces`,
      headers: {},
      contentType: 'application/json',
      retryDelaysMs: [0, 0],
      failed: (_url, reason) => failures.push(reason),
    },
    { serializeRequest: () => Buffer.from('{"resourceSpans":[]}') },
  );
}

const resultOf = (each: OtlpExporter<string>) =>
  new Promise<number>((done) => each.export('', ({ code }) => done(code)));
const success = 0;
const failed = 1;

test('an export is tried again while the collector is busy', async () => {
  collector.refuse(503, 429);
  expect(await resultOf(exporter())).toBe(success);
  expect(collector.deliveries.length).toBe(3);
  expect(failures).toEqual([]);
});

test('an export that is refused is not tried again, and is told once', async () => {
  collector.refuse(401, 401);
  const each = exporter();
  expect(await resultOf(each)).toBe(failed);
  expect(await resultOf(each)).toBe(failed);
  expect(collector.deliveries.length).toBe(2);
  expect(failures).toEqual(['the collector answered with status 401']);
  expect(await resultOf(each)).toBe(success);
});

test('an export is given up after the last retry', async () => {
  collector.refuse(503, 503, 503, 503);
  expect(await resultOf(exporter())).toBe(failed);
  expect(collector.deliveries.length).toBe(3);
});

test('a collector that is not there is told', async () => {
  await collector.stop();
  expect(await resultOf(exporter())).toBe(failed);
  expect(failures.length).toBe(1);
});
