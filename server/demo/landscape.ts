/** The demo's picture: a landscape whose colours, sun and hills follow from a digest of the prompt. */
import {
  createRaster,
  drawLabel,
  fillCircle,
  fillRectangle,
  hsl,
  LABEL_DOTS,
  mix,
  type Raster,
  rgba,
} from './raster.ts';

interface Landscape {
  width: number;
  height: number;
  /** Sixteen bytes; the same bytes draw the same picture. */
  seed: Buffer;
  /** Without sky, so that what is behind the picture shows. */
  isTransparent: boolean;
  /** How many of the hills are drawn, from the farthest: fewer make an unfinished picture. */
  hills: number;
}

export const HILLS = 4;

export function drawLandscape(landscape: Landscape): Raster {
  const raster = createRaster(landscape.width, landscape.height);
  const { seed, width, height } = landscape;
  const hue = share(seed, 0) * 360;
  if (!landscape.isTransparent) drawSky(raster, hue);
  const sun = { x: width * (0.15 + 0.7 * share(seed, 1)), y: height * (0.15 + 0.25 * share(seed, 2)) };
  fillCircle(raster, sun, Math.min(width, height) * (0.06 + 0.08 * share(seed, 3)), hsl((hue + 40) % 360, 0.9, 0.85));
  for (let hill = 0; hill < landscape.hills; hill += 1) drawHill(raster, seed, hill);
  const dot = Math.max(1, Math.round((width * 0.4) / LABEL_DOTS));
  drawLabel(raster, { x: 4 * dot, y: height - 11 * dot }, dot, rgba(255, 255, 255));
  return raster;
}

/** A byte of the seed as a number from 0 to 1. */
function share(seed: Buffer, index: number): number {
  return (seed[index % seed.length] ?? 0) / 255;
}

function drawSky(raster: Raster, hue: number): void {
  const [above, below] = [hsl(hue, 0.55, 0.45), hsl((hue + 50) % 360, 0.75, 0.8)];
  for (let y = 0; y < raster.height; y += 1) {
    fillRectangle(raster, { x: 0, y }, { x: raster.width, y: y + 1 }, mix(above, below, y / raster.height));
  }
}

/** A ridge of two waves, filled down to the lower edge; the nearer, the lower and darker. */
function drawHill(raster: Raster, seed: Buffer, hill: number): void {
  const { width, height, pixels } = raster;
  const nearness = hill / (HILLS - 1);
  const color = hsl((share(seed, 0) * 360 + 180 + 25 * hill) % 360, 0.35, 0.5 - 0.32 * nearness);
  const [slow, fast] = [1 + 2 * share(seed, 4 + hill), 4 + 4 * share(seed, 8 + hill)];
  const phase = 2 * Math.PI * share(seed, 12 + hill);
  for (let x = 0; x < width; x += 1) {
    const along = (2 * Math.PI * x) / width;
    const wave = 0.06 * Math.sin(slow * along + phase) + 0.02 * Math.sin(fast * along - phase);
    const top = Math.max(0, Math.floor(height * (0.5 + 0.13 * hill + wave)));
    for (let place = top * width + x; place < pixels.length; place += width) pixels[place] = color;
  }
}
