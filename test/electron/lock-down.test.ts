import { EventEmitter } from 'node:events';
import type { App, Session, WebContents } from 'electron';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { lockDown } from '../../electron/lock-down.ts';
import { asElectron, asEmitter } from './double/as-electron.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('remembers a press for some seconds, and only for its page', () => {
  const app = new EventEmitter();
  type Handler = NonNullable<Parameters<Session['setPermissionRequestHandler']>[0]>;
  let ask: Handler = () => {};
  lockDown({
    app: asEmitter<App>(app),
    session: {
      setPermissionRequestHandler(handler) {
        ask = handler ?? ask;
      },
      setPermissionCheckHandler: () => {},
      webRequest: asElectron<Session['webRequest']>({ onBeforeRequest: () => {} }),
    },
    shell: { openExternal: async () => {} },
    isWindowUrl: () => true,
  });
  const open = () => {
    const page = { getURL: () => 'sluice-window://app/', setWindowOpenHandler: () => {} };
    const contents = asEmitter<WebContents>(Object.assign(new EventEmitter(), page));
    app.emit('web-contents-created', {}, contents);
    return contents;
  };
  const mayRecord = (contents: WebContents) => {
    const answer = vi.fn();
    ask(contents, 'media', answer, { mediaTypes: ['audio'], isMainFrame: true, requestingUrl: '' });
    return answer.mock.lastCall?.[0];
  };
  const [one, other] = [open(), open()];
  one.emit('input-event', {}, { type: 'mouseDown' });
  expect([mayRecord(one), mayRecord(other)]).toEqual([true, false]);
  vi.advanceTimersByTime(5_001);
  expect(mayRecord(one)).toBe(false);
});
