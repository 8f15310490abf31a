/**
 * Restricts every page: no navigation away from our own scheme, no new windows, no embedded pages, no devices, and no
 * resources from elsewhere. The only exceptions are writing to the clipboard, and the microphone within five seconds after
 * the main process has seen a click or key press in the window.
 */
import type { App, InputEvent, Session, Shell, WebContents } from 'electron';

interface LockDownPorts {
  app: Pick<App, 'on'>;
  session: Pick<Session, 'setPermissionRequestHandler' | 'setPermissionCheckHandler' | 'webRequest'>;
  shell: Pick<Shell, 'openExternal'>;
  isWindowUrl(url: string): boolean;
}

const allowedPermission = 'clipboard-sanitized-write';
const pressEvents: ReadonlySet<InputEvent['type']> = new Set([
  'mouseDown',
  'rawKeyDown',
  'keyDown',
  'gestureTap',
  'touchEnd',
]);
/** How long after a click or key press the page may ask for the microphone. */
const pressValidMs = 5_000;
/** URLs of content that the page itself has created. */
const ownContent = /^(blob|data):/;

export function lockDown({ app, session, shell, isWindowUrl }: LockDownPorts): void {
  const lastPressMs = new WeakMap<WebContents, number>();
  app.on('web-contents-created', (_event, contents) => {
    lockContents(contents, shell, isWindowUrl);
    contents.on('input-event', (_input, { type }) => {
      if (pressEvents.has(type)) lastPressMs.set(contents, performance.now());
    });
  });
  const isAllowed = (contents: WebContents, { permission, media, isMainFrame }: PermissionRequest) => {
    if (!isWindowUrl(contents.getURL())) return false;
    if (permission === allowedPermission) return true;
    const isMicrophone = permission === 'media' && media.length > 0 && media.every((type) => type === 'audio');
    const pressedMs = lastPressMs.get(contents) ?? Number.NEGATIVE_INFINITY;
    return isMicrophone && isMainFrame && performance.now() - pressedMs <= pressValidMs;
  };
  session.setPermissionRequestHandler((contents, permission, answer, details) => {
    const media = 'mediaTypes' in details ? (details.mediaTypes ?? []) : [];
    answer(isAllowed(contents, { permission, media, isMainFrame: details.isMainFrame }));
  });
  session.setPermissionCheckHandler((contents, permission, _origin, { mediaType, isMainFrame }) => {
    const media = mediaType === undefined ? [] : [mediaType];
    return contents !== null && isAllowed(contents, { permission, media, isMainFrame });
  });
  session.webRequest.onBeforeRequest(({ url }, answer) =>
    answer({ cancel: !isWindowUrl(url) && !ownContent.test(url) && !isDevTools(url) }),
  );
}

interface PermissionRequest {
  permission: string;
  media: readonly ('audio' | 'video' | 'unknown')[];
  isMainFrame: boolean;
}

function lockContents(
  contents: WebContents,
  shell: LockDownPorts['shell'],
  isWindowUrl: LockDownPorts['isWindowUrl'],
): void {
  contents.on('will-frame-navigate', (event) => {
    if (!event.isMainFrame || !isWindowUrl(event.url)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (isHttps(url)) void shell.openExternal(url);
    return { action: 'deny' };
  });
}

/** The developer tools load their own pages. */
function isDevTools(url: string): boolean {
  return url.startsWith('devtools://');
}

function isHttps(url: string): boolean {
  return URL.parse(url)?.protocol === 'https:';
}
