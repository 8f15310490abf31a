import type { Command } from 'commander';
import { openBrowser } from './open-browser.ts';
import type { Verbs } from './verb.ts';

/** Only a Sluice that runs has a window; one that does not says so. */
export function addWindowVerb(program: Command, { on }: Verbs): void {
  const window = program
    .command('window')
    .description('print a new address of the window, which works once')
    .option('--open', 'show it in the browser');
  on<{ open?: boolean }>(window, async ({ control, output }, _, { open }) => {
    const { url } = await control.execute({ type: 'window.create-address' });
    output.show({ url }, url);
    if (open) openBrowser(url, output.note);
  });
}
