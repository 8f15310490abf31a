/**
 * A script for pages of the window. It disables the idle-time preloading of screens, which are then loaded when they
 * are opened: preloading all of them costs more than most tests spend on the screen that they test. Idle callbacks with
 * a timeout, such as the editor's, still run.
 */
export const loadsNothingAhead = `{
  const callWhenIdle = window.requestIdleCallback.bind(window);
  window.requestIdleCallback = (callback, options) => (options?.timeout ? callWhenIdle(callback, options) : 0);
}`;
