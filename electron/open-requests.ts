import type { App } from 'electron';
import { isSluiceLink } from '../server/contract/preset-link.ts';
import type { TeamPresetInbox } from './team-preset-inbox.ts';

/** The URL scheme that the desktop registers with the operating system. */
export const linkScheme = 'sluice';

/**
 * Receives links and files that the operating system opens with Sluice: on macOS as events, elsewhere as an argument of
 * this process or of a second instance. They are queued until `deliverTo` is called.
 */
export function receiveOpenRequests(
  app: Pick<App, 'on'>,
  argv: readonly string[],
): { deliverTo(inbox: TeamPresetInbox): void } {
  const queued: ((inbox: TeamPresetInbox) => void)[] = [];
  let inbox: TeamPresetInbox | null = null;
  const deliver = (delivery: (inbox: TeamPresetInbox) => void) => {
    if (inbox) delivery(inbox);
    else queued.push(delivery);
  };
  const deliverLink = (link: string | undefined) => link !== undefined && deliver((target) => target.openLink(link));
  app.on('open-url', (event, link) => {
    event.preventDefault();
    deliverLink(link);
  });
  app.on('open-file', (event, path) => {
    event.preventDefault();
    deliver((target) => target.openFile(path));
  });
  app.on('second-instance', (_event, secondArgv) => deliverLink(secondArgv.find(isSluiceLink)));
  deliverLink(argv.find(isSluiceLink));
  return {
    deliverTo(next) {
      inbox = next;
      for (const delivery of queued.splice(0)) delivery(next);
    },
  };
}
