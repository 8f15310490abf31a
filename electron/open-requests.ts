import { extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { App } from 'electron';
import { isSluiceLink } from '../server/contract/sluice-link.ts';
import type { OpenedInbox } from './opened-inbox.ts';

/** The URL scheme that the desktop registers with the operating system. */
export const linkScheme = 'sluice';

/**
 * Receives links and files that the operating system opens with Sluice: on macOS as events, elsewhere as an argument of
 * this process or of a second instance. They are queued until `deliverTo` is called.
 */
export function receiveOpenRequests(
  app: Pick<App, 'on'>,
  argv: readonly string[],
): { deliverTo(inbox: OpenedInbox): void } {
  const queued: ((inbox: OpenedInbox) => void)[] = [];
  let inbox: OpenedInbox | null = null;
  const deliver = (delivery: (inbox: OpenedInbox) => void) => {
    if (inbox) delivery(inbox);
    else queued.push(delivery);
  };
  const deliverArguments = (given: readonly string[], folder: string) => {
    const link = given.find(isSluiceLink);
    const path = given
      .slice(1)
      .map((argument) => documentPath(argument, folder))
      .find((each) => each !== null);
    if (link !== undefined) deliver((target) => target.openLink(link));
    else if (path) deliver((target) => target.openFile(path));
  };
  app.on('open-url', (event, link) => {
    event.preventDefault();
    deliver((target) => target.openLink(link));
  });
  app.on('open-file', (event, path) => {
    event.preventDefault();
    deliver((target) => target.openFile(path));
  });
  app.on('second-instance', (_event, secondArgv, folder) => deliverArguments(secondArgv, folder));
  deliverArguments(argv, process.cwd());
  return {
    deliverTo(next) {
      inbox = next;
      for (const delivery of queued.splice(0)) delivery(next);
    },
  };
}

/** The extensions of `fileAssociations` in `build/electron-builder.json`, and what is opened with Sluice by choice. */
const documentExtensions: readonly string[] = ['.sluice-preset', '.sluice-cassette', '.json'];

/**
 * The path, if the argument is a document. Linux hands it over as a `file:` URL. An option is none.
 */
function documentPath(argument: string, folder: string): string | null {
  const path = /^file:/i.test(argument) ? pathOfUrl(argument) : argument;
  if (path === null || path.startsWith('-') || !documentExtensions.includes(extname(path))) return null;
  return resolve(folder, path);
}

function pathOfUrl(url: string): string | null {
  try {
    return fileURLToPath(url);
  } catch {
    return null;
  }
}
