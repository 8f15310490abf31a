/** Opens files until no descriptor is left, then requests the lock of a data folder and prints the result. */
import { closeSync, openSync } from 'node:fs';
import { acquireInstanceLock } from '../../../server/data-folder/instance-lock.ts';

const [dataDir = ''] = process.argv.slice(2);
const opened: number[] = [];
try {
  for (;;) opened.push(openSync('/dev/null', 'r'));
} catch {
  // No descriptor is left.
}
const said = await acquireInstanceLock(dataDir).then(
  (lock) => JSON.stringify(lock),
  (error: unknown) => String(error),
);
for (const descriptor of opened.splice(0, 20)) closeSync(descriptor);
process.stdout.write(`${said}\n`);
