/**
 * What no page of this program may do, whichever window it is in: go elsewhere, open windows, embed others, ask for
 * devices, or load anything that did not come with the program. Everything is refused that is not named here.
 */
import type { App, Session, Shell, WebContents } from 'electron';

export interface LockDownPorts {
  app: Pick<App, 'on'>;
  session: Pick<Session, 'setPermissionRequestHandler' | 'setPermissionCheckHandler' | 'webRequest'>;
  shell: Pick<Shell, 'openExternal'>;
  isOurPage(url: string): boolean;
}

const allowedPermission = 'clipboard-sanitized-write';
/** They hold what the page itself has made. */
const ownContent = /^(blob|data):/;

export function lockDown({ app, session, shell, isOurPage }: LockDownPorts): void {
  app.on('web-contents-created', (_event, contents) => lockContents(contents, shell, isOurPage));
  session.setPermissionRequestHandler((contents, permission, answer) =>
    answer(permission === allowedPermission && isOurPage(contents.getURL())),
  );
  session.setPermissionCheckHandler((contents, permission) =>
    contents === null ? false : permission === allowedPermission && isOurPage(contents.getURL()),
  );
  session.webRequest.onBeforeRequest(({ url }, answer) =>
    answer({ cancel: !isOurPage(url) && !ownContent.test(url) && !isDevTools(url) }),
  );
}

function lockContents(
  contents: WebContents,
  shell: LockDownPorts['shell'],
  isOurPage: LockDownPorts['isOurPage'],
): void {
  contents.on('will-frame-navigate', (event) => {
    if (!event.isMainFrame || !isOurPage(event.url)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (isHttps(url)) void shell.openExternal(url);
    return { action: 'deny' };
  });
}

/** Their own pages, which a developer may open. */
function isDevTools(url: string): boolean {
  return url.startsWith('devtools://');
}

function isHttps(url: string): boolean {
  return URL.parse(url)?.protocol === 'https:';
}
