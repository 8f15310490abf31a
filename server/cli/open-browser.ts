import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  // `start` interprets a quoted first argument as a window title, so it gets an empty one.
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens an address in the user's browser, or reports that there is none. */
export function openBrowser(url: string, notice: (line: string) => void): void {
  const [program, ...parameters] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...parameters, url], { stdio: 'ignore', detached: true });
  child.on('error', () => notice(`Cannot open a browser (${program} is missing): open the window's address yourself.`));
  child.unref();
}
