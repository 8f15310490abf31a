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
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.CHROMIUM) return env.CHROMIUM;
  return findOnPath(programs, env) ?? usualPlaces.find((path) => existsSync(path)) ?? null;
}

/**
 * The same for pages that need no visible window: preferably Chromium's headless shell (Debian's package
 * `chromium-headless-shell`), which needs a fifth less CPU time for each page.
 */
export function findHeadlessChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.CHROMIUM) return env.CHROMIUM;
  return findOnPath(['chromium-headless-shell'], env) ?? findChromium(env);
}

function findOnPath(names: readonly string[], env: NodeJS.ProcessEnv): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find((path) => existsSync(path)) ?? null;
}
