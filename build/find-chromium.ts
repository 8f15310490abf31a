import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const programs = ['chromium', 'chromium-browser', 'google-chrome', 'chrome.exe'];
/** Install locations that are not on the PATH. */
const usualPlaces = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Finds this machine's Chromium or Chrome: `CHROMIUM` if set, otherwise the first on the PATH or in a usual place. */
export function findChromium(): string | null {
  const { env } = process;
  if (env.CHROMIUM) return env.CHROMIUM;
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  const onPath = programs.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, ...usualPlaces].find((path) => existsSync(path)) ?? null;
}
