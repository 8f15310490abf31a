/** A picture in memory, and the few shapes that the demo draws. */

export interface Raster {
  readonly width: number;
  readonly height: number;
  /** Row by row; a colour is made by `rgba`. */
  readonly pixels: Uint32Array;
}

interface Point {
  x: number;
  y: number;
}

export function createRaster(width: number, height: number): Raster {
  return { width, height, pixels: new Uint32Array(width * height) };
}

/** A pixel whose bytes in memory are red, green, blue, alpha: so on the little-endian machines that Node runs on. */
export function rgba(red: number, green: number, blue: number, alpha = 255): number {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** A colour from hue (degrees), saturation and lightness (0 to 1). */
export function hsl(hue: number, saturation: number, lightness: number): number {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const place = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(place - 3, 9 - place, 1))));
  };
  return rgba(channel(0), channel(8), channel(4));
}

/** Between two colours; `share` 0 gives the first. */
export function mix(first: number, second: number, share: number): number {
  const channel = (shift: number) => {
    const from = (first >>> shift) & 0xff;
    return Math.round(from + (((second >>> shift) & 0xff) - from) * share);
  };
  return rgba(channel(0), channel(8), channel(16), channel(24));
}

export function fillRectangle(raster: Raster, from: Point, to: Point, color: number): void {
  const [left, right] = [Math.max(0, Math.round(from.x)), Math.min(raster.width, Math.round(to.x))];
  const [top, bottom] = [Math.max(0, Math.round(from.y)), Math.min(raster.height, Math.round(to.y))];
  for (let y = top; y < bottom; y += 1)
    raster.pixels.fill(color, y * raster.width + left, y * raster.width + Math.max(left, right));
}

/** A disc with a soft edge; on a transparent background the edge is hard. */
export function fillCircle(raster: Raster, center: Point, radius: number, color: number): void {
  const [left, right] = [
    Math.max(0, Math.floor(center.x - radius)),
    Math.min(raster.width, Math.ceil(center.x + radius)),
  ];
  const [top, bottom] = [
    Math.max(0, Math.floor(center.y - radius)),
    Math.min(raster.height, Math.ceil(center.y + radius)),
  ];
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const inside = radius - Math.sqrt((x - center.x) ** 2 + (y - center.y) ** 2);
      if (inside <= 0) continue;
      const place = y * raster.width + x;
      const behind = raster.pixels[place] ?? 0;
      raster.pixels[place] = inside >= 1 || behind === 0 ? color : mix(behind, color, inside);
    }
  }
}

/** Glyphs of five by seven dots, a row a number whose highest bit is the left dot; only the letters of the demo's label. */
const glyphs: Readonly<Record<string, readonly number[]>> = {
  C: [0b01110, 0b10001, 0b10000, 0b10000, 0b10000, 0b10001, 0b01110],
  D: [0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110],
  E: [0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111],
  I: [0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
  L: [0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111],
  M: [0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001],
  O: [0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110],
  S: [0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110],
  U: [0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110],
};

const LABEL = 'SLUICE DEMO';
/** Width of the label in dots, the gap after its last letter included. */
export const LABEL_DOTS = LABEL.length * 6;

/** Writes the label that marks everything drawn here as a demo; `dot` is the size of a dot in pixels. */
export function drawLabel(raster: Raster, at: Point, dot: number, color: number): void {
  for (const [letterIndex, letter] of [...LABEL].entries()) {
    for (const [rowIndex, row] of (glyphs[letter] ?? []).entries()) {
      for (let column = 0; column < 5; column += 1) {
        if (((row >> (4 - column)) & 1) === 0) continue;
        const corner = { x: at.x + (letterIndex * 6 + column) * dot, y: at.y + rowIndex * dot };
        fillRectangle(raster, corner, { x: corner.x + dot, y: corner.y + dot }, color);
      }
    }
  }
}
