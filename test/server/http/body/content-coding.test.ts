import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Coding, codingsOf, decodeWhole } from '../../../../server/http/body/content-headers.ts';

const mebibyte = 1024 * 1024;
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

test.each<[Coding, (bytes: Buffer) => Buffer]>([
  ['gzip', (bytes) => gzipSync(bytes, { level: 1 })],
  ['deflate', (bytes) => deflateSync(bytes, { level: 1 })],
  ['deflate', (bytes) => deflateRawSync(bytes, { level: 1 })],
  ['br', (bytes) => brotliCompressSync(bytes, quality)],
  ['zstd', zstdCompressSync],
])('the event loop turns hundreds of times while 60 MB are decoded from %s', async (coding, encode) => {
  const plain = Buffer.alloc(60 * mebibyte, randomBytes(1_000).toString('hex'));
  const encoded = encode(plain);
  let turns = 0;
  let isOver = false;
  const turning = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  const decoded = await decodeWhole(encoded, [coding], plain.length);
  isOver = true;
  await turning;
  expect(decoded?.equals(plain)).toBe(true);
  expect(turns).toBeGreaterThan(300);
});

test('a body without a content coding, or with none but identity, is plain', () => {
  for (const header of [undefined, '', 'identity', 'Identity , identity', ',']) {
    expect(codingsOf(header === undefined ? {} : { 'content-encoding': header })).toEqual([]);
  }
});

test('codings are undone from the last one to the first', async () => {
  const plain = Buffer.from('{"a":1}');
  const codings = codingsOf({ 'content-encoding': 'GZip, identity,\tbr' });
  expect(codings).toEqual(['gzip', 'br']);
  expect(await decodeWhole(brotliCompressSync(gzipSync(plain)), codings, 100)).toEqual(plain);
  expect(await decodeWhole(gzipSync(brotliCompressSync(plain)), codings, 100)).toBeNull();
});

test('as many bytes as the limit are decoded, and not one more', async () => {
  for (const coding of ['gzip', 'zstd'] as const) {
    const encode = coding === 'gzip' ? gzipSync : zstdCompressSync;
    expect((await decodeWhole(encode(Buffer.alloc(1_000)), [coding], 1_000))?.length).toBe(1_000);
    expect(await decodeWhole(encode(Buffer.alloc(1_001)), [coding], 1_000)).toBeNull();
  }
});

test('a zstd frame that demands a window above 8 MiB is refused', async () => {
  const params = { [constants.ZSTD_c_windowLog]: 25, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
  const encoded = zstdCompressSync(randomBytes(40 * mebibyte), { params });
  expect(await decodeWhole(encoded, ['zstd'], 64 * mebibyte)).toBeNull();
});
