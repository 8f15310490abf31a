/** What a finished video job hands out: the demo's one film, and pictures drawn from the prompt. */
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import stored from './film.json' with { type: 'json' };
import { digest } from './ids.ts';
import { drawLandscape, HILLS } from './landscape.ts';
import { createRaster, type Raster } from './raster.ts';

export interface FilmOrder {
  prompt: string;
  seconds: number;
  /** As the caller asked for it. */
  size: { width: number; height: number };
}

const LONGER_SIDE = 320;
const SHEET_COLUMNS = 4;
const SHEET_ROWS = 2;

const decompress = promisify(brotliDecompress);

/**
 * An MP4 (H.264, constrained baseline) of 4 seconds and 320x180 pixels in which a ball bounces over hills. It is the same
 * for every job: the prompt, the length and the size that were asked for change only the video object and the pictures.
 * Stored compressed and in base64, so that the sources and the built program find it in the same way.
 */
export function loadFilm(): Promise<Buffer> {
  return decompress(Buffer.from(stored.mp4, 'base64'));
}

/** The landscape of the prompt, in the shape that was asked for; the longer side is 320 pixels. */
export function drawThumbnail(order: FilmOrder): Raster {
  return drawPicture(order, HILLS);
}

/** Eight pictures in two rows, over which the hills of the landscape appear one after the other. */
export function drawSpritesheet(order: FilmOrder): Raster {
  const sprites = Array.from({ length: SHEET_COLUMNS * SHEET_ROWS }, (_, index) =>
    drawPicture(order, Math.ceil(((index + 1) / (SHEET_COLUMNS * SHEET_ROWS)) * HILLS)),
  );
  const { width, height } = smallSize(order.size);
  const sheet = createRaster(width * SHEET_COLUMNS, height * SHEET_ROWS);
  for (const [index, { pixels }] of sprites.entries()) {
    const left = (index % SHEET_COLUMNS) * width;
    const top = Math.floor(index / SHEET_COLUMNS) * height;
    for (let y = 0; y < height; y += 1) {
      sheet.pixels.set(pixels.subarray(y * width, (y + 1) * width), (top + y) * sheet.width + left);
    }
  }
  return sheet;
}

function drawPicture({ prompt, size }: FilmOrder, hills: number): Raster {
  return drawLandscape({ ...smallSize(size), seed: digest(prompt), isTransparent: false, hills });
}

function smallSize({ width, height }: FilmOrder['size']): FilmOrder['size'] {
  const scale = LONGER_SIDE / Math.max(width, height);
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}
