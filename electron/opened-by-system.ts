import type { App } from 'electron';
import { isSluiceLink } from '../server/contract/preset-link.ts';
import type { TeamPresetInbox } from './team-preset-inbox.ts';

/** The URL scheme that the desktop registers with the operating system. */
export const linkScheme = 'sluice';

/**
 * Receives links and files that the operating system opens with Sluice: on macOS as events, elsewhere as an argument of
 * this process or of a second instance. They are queued until `passTo` is called.
 */
export function onOpened(app: Pick<App, 'on'>, argv: readonly string[]): { passTo(inbox: TeamPresetInbox): void } {
  const waiting: ((inbox: TeamPresetInbox) => void)[] = [];
  let inbox: TeamPresetInbox | null = null;
  const pass = (act: (inbox: TeamPresetInbox) => void) => {
    if (inbox) act(inbox);
    else waiting.push(act);
  };
  const passLink = (link: string | undefined) => link !== undefined && pass((to) => to.openLink(link));
  app.on('open-url', (event, link) => {
    event.preventDefault();
    passLink(link);
  });
  app.on('open-file', (event, path) => {
    event.preventDefault();
    pass((to) => to.openFile(path));
  });
  app.on('second-instance', (_event, others) => passLink(others.find(isSluiceLink)));
  passLink(argv.find(isSluiceLink));
  return {
    passTo(next) {
      inbox = next;
      for (const act of waiting.splice(0)) act(next);
    },
  };
}
