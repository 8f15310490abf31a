/** Writes a raster as PNG (RFC 2083): 8 bits a channel with alpha, every row told by its difference from the one above. */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { Raster } from './raster.ts';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const FILTER_UP = 2;
const COLOR_TYPE_RGBA = 6;

const deflateAsync = promisify(deflate);

/** Compresses on a thread of Node's pool, so that a large picture does not hold up other requests. */
export async function encodePng(raster: Raster): Promise<Buffer> {
  // The pictures are flat and smooth: the lightest compression takes nearly all there is to take.
  const data = await deflateAsync(filterRows(raster), { level: 1 });
  return Buffer.concat([signature, chunk('IHDR', header(raster)), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function header({ width, height }: Raster): Buffer {
  const bytes = Buffer.alloc(13);
  bytes.writeUInt32BE(width, 0);
  bytes.writeUInt32BE(height, 4);
  bytes.set([8, COLOR_TYPE_RGBA], 8);
  return bytes;
}

function filterRows({ width, height, pixels }: Raster): Buffer {
  const source = new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength);
  const rowBytes = width * 4;
  const filtered = Buffer.alloc((rowBytes + 1) * height);
  let target = 0;
  for (let y = 0; y < height; y += 1) {
    filtered[target++] = FILTER_UP;
    for (let index = y * rowBytes; index < (y + 1) * rowBytes; index += 1) {
      // Above the first row is nothing, which counts as zero; a Buffer keeps the low eight bits.
      filtered[target++] = (source[index] ?? 0) - (source[index - rowBytes] ?? 0);
    }
  }
  return filtered;
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}
