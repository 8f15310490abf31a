import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import type { Examples } from './help.ts';
import { CliError } from './programs/exit-codes.ts';
import type { Verbs } from './verb.ts';

interface WindowFlags {
  open?: boolean;
  signOutEverywhere?: boolean;
}

export const windowExamples: Examples = {
  window: ['sluice window', 'sluice window --open'],
};

/** Creating an address fails if no Sluice is running. Browsers can be signed out in either case. */
export function addWindowVerb(program: Command, { on }: Verbs): void {
  const window = program
    .command('window')
    .description('print a new address of the window, which works once, within ten minutes')
    .option('--open', 'open it in the browser')
    .option('--sign-out-everywhere', 'instead, sign out all browsers');
  on<WindowFlags>(window, async ({ control, output }, _, { open, signOutEverywhere }) => {
    if (signOutEverywhere) {
      const { ended } = await control.execute({ type: 'window.sign-out-everywhere' });
      output.show({ ended }, `Signed out: ${ended} ${ended === 1 ? 'browser' : 'browsers'}.`);
      return;
    }
    if (control.origin === null) throw new CliError('Sluice is not running. Start it with "sluice serve".');
    const { url } = await control.execute({ type: 'window.create-address' });
    output.show({ url }, url);
    if (open) openBrowser(url, output.note);
  });
}

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
