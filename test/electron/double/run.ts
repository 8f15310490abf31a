/**
 * Runs a built main in plain Node with the double instead of `electron`: `node run.ts dist/program/main.js`. As in
 * Electron, the app becomes ready only after main has run to its end.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { app } from './app.ts';
import { obey } from './controls.ts';
import './in-place.ts';

const [, , main = ''] = process.argv;
// The program's own arguments follow its path.
process.argv.splice(1, 1);
// As in Electron; electron-updater searches this folder.
const resourcesPath = process.env.DOUBLE_RESOURCES ?? join(main, '..');
Object.defineProperty(process, 'resourcesPath', { value: resourcesPath });
// What main does there, as far as it depends on the name of the system alone.
if (process.env.DOUBLE_PLATFORM) Object.defineProperty(process, 'platform', { value: process.env.DOUBLE_PLATFORM });
if (process.env.DOUBLE_PATIENT) delayLongLimits();
obey();
await import(pathToFileURL(main).href);
app.becomeReady();
// A person may click that early.
if (process.env.DOUBLE_ACTIVATED) setImmediate(() => app.emit('activate'));

/**
 * For a test that keeps something waiting. On a busy machine, that may take longer than the time limits for hanging
 * operations.
 */
function delayLongLimits(): void {
  globalThis.setTimeout = new Proxy(globalThis.setTimeout, {
    apply: (real, self, [work, ms = 0, ...rest]) =>
      Reflect.apply(real, self, [work, ms < 10_000 ? ms : 100 * ms, ...rest]),
  });
}
