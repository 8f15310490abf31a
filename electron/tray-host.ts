/**
 * Finds out whether a Linux desktop shows tray icons. `new Tray` also succeeds if it does not, so this asks the session bus
 * with whichever of the usual command-line tools is installed.
 */
import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

const watcher = 'org.kde.StatusNotifierWatcher';
const path = '/StatusNotifierWatcher';
const property = 'IsStatusNotifierHostRegistered';
const getProperty = 'org.freedesktop.DBus.Properties.Get';
const limitMs = 3_000;

/** Each prints the value of the property, or fails. */
const tools: readonly [tool: string, ...args: string[]][] = [
  ['gdbus', 'call', '--session', '--dest', watcher, '--object-path', path, '--method', getProperty, watcher, property],
  [
    'dbus-send',
    '--session',
    '--print-reply',
    `--dest=${watcher}`,
    path,
    getProperty,
    `string:${watcher}`,
    `string:${property}`,
  ],
  ['busctl', '--user', 'get-property', watcher, path, watcher, property],
];

/** At login, the desktop's own parts start at the same time as Sluice, so the tray may not exist yet. */
const maxAttempts = 5;

/** False also if this cannot be determined. */
export async function isTrayShown(pauseMs = 1_000): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    if (await isHostRegistered()) return true;
    if (attempt === maxAttempts) return false;
    await setTimeout(pauseMs);
  }
}

async function isHostRegistered(): Promise<boolean> {
  for (const [tool, ...args] of tools) {
    const [answer] = /\b(true|false)\b/.exec(await outputOf(tool, args)) ?? [];
    if (answer) return answer === 'true';
  }
  return false;
}

/** Empty if the tool is missing, fails or takes too long. */
function outputOf(tool: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(tool, args, { timeout: limitMs }, (error, stdout) => resolve(error ? '' : stdout));
  });
}
