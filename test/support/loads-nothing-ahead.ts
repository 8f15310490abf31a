/**
 * A script for a page of the window: the screens that it would load in advance, when it has nothing else to do, are loaded when
 * they are opened. Loading all of them costs more than most tests do with the one they are about. Callbacks that ask to be
 * called after some time at the latest, as the editor's do, are left alone.
 */
export const loadsNothingAhead = `{
  const callWhenIdle = window.requestIdleCallback.bind(window);
  window.requestIdleCallback = (callback, options) => (options?.timeout ? callWhenIdle(callback, options) : 0);
}`;
