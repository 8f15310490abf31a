import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  // The empty title keeps `start` from taking the address for one.
  win32: ['cmd', '/c', 'start', ''],
};

/** Shows an address in the person's browser; where there is none, says so and goes on. */
export function openBrowser(url: string, notice: (line: string) => void): void {
  const [program, ...parameters] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...parameters, url], { stdio: 'ignore', detached: true });
  child.on('error', () =>
    notice(`No browser could be opened (${program} is missing): open the window's address yourself.`),
  );
  child.unref();
}
