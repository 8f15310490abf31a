/** The demo's pictures: a vertical colour gradient as PNG (RFC 2083), its colours derived from the prompt. */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { digest } from './ids.ts';

/** In pixels. */
export interface PictureSize {
  width: number;
  height: number;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BITS_PER_CHANNEL = 8;
const COLOR_TYPE_RGB = 2;

const deflateAsync = promisify(deflate);

/** Equal seeds give equal pictures. Compression runs on Node's thread pool. */
export async function drawPicture(size: PictureSize, seed: string): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size.width, 0);
  header.writeUInt32BE(size.height, 4);
  header.set([BITS_PER_CHANNEL, COLOR_TYPE_RGB], 8);
  const data = await deflateAsync(gradientRows(size, digest(seed)), { level: 1 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** `WIDTHxHEIGHT`; `undefined` for any other text. */
export function parseSize(text: string): PictureSize | undefined {
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(text) ?? [];
  return width && height ? { width: Number(width), height: Number(height) } : undefined;
}

/** Unfiltered rows of RGB bytes, from the colour in the seed's first three bytes to the one in the next three. */
function gradientRows({ width, height }: PictureSize, seed: Buffer): Buffer {
  const rows = Array.from({ length: height }, (_, y) => {
    const color = [0, 1, 2].map((channel) => {
      const [top, bottom] = [seed[channel] ?? 0, seed[channel + 3] ?? 0];
      return Math.round(top + ((bottom - top) * y) / height);
    });
    const row = Buffer.alloc(1 + width * 3);
    row.fill(Buffer.from(color), 1);
    return row;
  });
  return Buffer.concat(rows);
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}
