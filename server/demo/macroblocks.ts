/** A raster cut into the macroblocks of H.264: 16 by 16 pixels, brightness in full, colour at half size (YCbCr 4:2:0). */
import type { Raster } from './raster.ts';

export const MACROBLOCK = 16;
/** 256 samples of brightness, then 64 of each colour difference. */
export const MACROBLOCK_BYTES = 384;

export interface MacroblockGrid {
  columns: number;
  rows: number;
}

export function gridOf({ width, height }: { width: number; height: number }): MacroblockGrid {
  return { columns: Math.ceil(width / MACROBLOCK), rows: Math.ceil(height / MACROBLOCK) };
}

/** All macroblocks of the picture, row by row; past its edges the last pixels are repeated. */
export function toMacroblocks(raster: Raster): Uint8Array {
  const { columns, rows } = gridOf(raster);
  const blocks = new Uint8Array(columns * rows * MACROBLOCK_BYTES);
  for (let index = 0; index < columns * rows; index += 1) {
    const corner = { x: (index % columns) * MACROBLOCK, y: Math.floor(index / columns) * MACROBLOCK };
    const block = blocks.subarray(index * MACROBLOCK_BYTES, (index + 1) * MACROBLOCK_BYTES);
    writeBrightness(raster, corner, block);
    writeColor(raster, corner, block);
  }
  return blocks;
}

interface Corner {
  x: number;
  y: number;
}

function pixelAt({ width, height, pixels }: Raster, x: number, y: number): number {
  return pixels[Math.min(y, height - 1) * width + Math.min(x, width - 1)] ?? 0;
}

/** BT.601 in the range of television, 16 to 235: zero, which would need escaping, never occurs. */
function writeBrightness(raster: Raster, corner: Corner, block: Uint8Array): void {
  for (let index = 0; index < 256; index += 1) {
    const pixel = pixelAt(raster, corner.x + (index % 16), corner.y + (index >> 4));
    const [red, green, blue] = [pixel & 0xff, (pixel >>> 8) & 0xff, (pixel >>> 16) & 0xff];
    block[index] = 16 + ((66 * red + 129 * green + 25 * blue + 128) >> 8);
  }
}

/** One sample for four pixels: the upper left one's colour. */
function writeColor(raster: Raster, corner: Corner, block: Uint8Array): void {
  for (let index = 0; index < 64; index += 1) {
    const pixel = pixelAt(raster, corner.x + 2 * (index % 8), corner.y + 2 * (index >> 3));
    const [red, green, blue] = [pixel & 0xff, (pixel >>> 8) & 0xff, (pixel >>> 16) & 0xff];
    block[256 + index] = 128 + ((-38 * red - 74 * green + 112 * blue + 128) >> 8);
    block[320 + index] = 128 + ((112 * red - 94 * green - 18 * blue + 128) >> 8);
  }
}
