/** The demo's film: the landscape of the prompt, a ball that flies over it, and a bar that shows how far the film is. */

import { encodeFilm } from './h264.ts';
import { digest } from './ids.ts';
import { drawLandscape, HILLS } from './landscape.ts';
import { encodeMp4 } from './mp4.ts';
import { createRaster, fillCircle, fillRectangle, type Raster, rgba } from './raster.ts';

export interface FilmOrder {
  prompt: string;
  seconds: number;
  /** As the caller asked for it; the film is a small one of nearly the same shape. */
  size: { width: number; height: number };
}

const FRAMES_PER_SECOND = 8;
const KEY_FRAME_SECONDS = 4;
const LONGER_SIDE = 320;
const SHEET_COLUMNS = 4;
const SHEET_ROWS = 2;
const white = rgba(255, 255, 255);

export function renderFilm(order: FilmOrder): Buffer {
  const size = renderedSize(order.size);
  const film = encodeFilm(drawFrames(order), size, FRAMES_PER_SECOND * KEY_FRAME_SECONDS);
  return encodeMp4({ ...size, framesPerSecond: FRAMES_PER_SECOND, film });
}

/** The frame in the middle. */
export function renderThumbnail(order: FilmOrder): Raster {
  return frameDrawer(order)(0.5);
}

/** Eight frames in two rows, from the beginning to the end. */
export function renderSpritesheet(order: FilmOrder): Raster {
  const { width, height } = renderedSize(order.size);
  const sheet = createRaster(width * SHEET_COLUMNS, height * SHEET_ROWS);
  const draw = frameDrawer(order);
  const sprites = SHEET_COLUMNS * SHEET_ROWS;
  for (let index = 0; index < sprites; index += 1) {
    const left = (index % SHEET_COLUMNS) * width;
    const top = Math.floor(index / SHEET_COLUMNS) * height;
    const sprite = draw(index / (sprites - 1));
    for (let y = 0; y < height; y += 1) {
      sheet.pixels.set(sprite.pixels.subarray(y * width, (y + 1) * width), (top + y) * sheet.width + left);
    }
  }
  return sheet;
}

/** The longer side is 320 pixels; both are even, as the format demands. */
export function renderedSize({ width, height }: FilmOrder['size']): FilmOrder['size'] {
  const scale = LONGER_SIDE / Math.max(width, height);
  const even = (length: number) => Math.max(32, 2 * Math.round((length * scale) / 2));
  return { width: even(width), height: even(height) };
}

function* drawFrames(order: FilmOrder): Generator<Raster> {
  const frames = order.seconds * FRAMES_PER_SECOND;
  const draw = frameDrawer(order);
  for (let index = 0; index < frames; index += 1) yield draw((index + 1) / frames);
}

/** Draws the frame at a share of the film, from 0 to 1. */
function frameDrawer(order: FilmOrder): (progress: number) => Raster {
  const { width, height } = renderedSize(order.size);
  const seed = digest(order.prompt);
  const background = drawLandscape({ width, height, seed, isTransparent: false, hills: HILLS });
  const radius = Math.min(width, height) / 14;
  return (progress) => {
    const frame = createRaster(width, height);
    frame.pixels.set(background.pixels);
    const seconds = progress * order.seconds;
    const bounce = Math.abs(Math.sin(Math.PI * seconds));
    const across = (1 - Math.cos((Math.PI * seconds) / 2)) / 2;
    const ball = { x: radius + (width - 2 * radius) * across, y: height * (0.75 - 0.5 * bounce) };
    fillCircle(frame, ball, radius, white);
    fillRectangle(frame, { x: 0, y: height - 3 }, { x: width * progress, y: height }, white);
    return frame;
  };
}
