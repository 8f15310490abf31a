/**
 * Renders all sizes of the icons from their SVG sources with Chromium: `node build/icons/draw.ts`. The results are
 * committed, so that a build needs no browser.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { findChromium } from '../find-chromium.ts';

const folder = import.meta.dirname;
const appSizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
/** Size of a tray icon in points; rendered at 1x and 2x. */
const traySize = 16;
/** Medium tones, which are visible on a light bar and on a dark one. */
const trayColors = { off: '#8b929c', serving: '#2a9db5', error: '#e5484d' };

const executablePath = findChromium();
if (!executablePath) throw new Error('There is no Chromium: install it, or name it by CHROMIUM.');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage();
for (const name of ['app', 'tray']) mkdirSync(join(folder, name), { recursive: true });
for (const size of appSizes) await draw(page, { source: 'app.svg', size, file: `app/${size}x${size}.png` });
for (const [state, color] of Object.entries(trayColors)) {
  const source = `tray-${state}.svg`;
  for (const [suffix, scale] of [
    ['', 1],
    ['@2x', 2],
  ] as const) {
    const size = traySize * scale;
    await draw(page, { source, size, color, file: `tray/tray-${state}${suffix}.png` });
    // macOS uses only the alpha channel of a template image.
    await draw(page, { source, size, color: '#000000', file: `tray/tray-${state}Template${suffix}.png` });
  }
}
await browser.close();

interface Drawing {
  source: string;
  size: number;
  file: string;
  color?: string;
}

async function draw(on: Page, { source, size, file, color = '#000000' }: Drawing): Promise<void> {
  const svg = readFileSync(join(folder, source), 'utf8').replaceAll('currentColor', color);
  await on.setViewportSize({ width: size, height: size });
  await on.setContent(
    `<style>html, body { margin: 0 } svg { display: block; width: ${size}px; height: ${size}px }</style>${svg}`,
  );
  writeFileSync(join(folder, file), await on.screenshot({ omitBackground: true }));
}
