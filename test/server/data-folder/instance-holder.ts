/**
 * Takes the lock of a data folder, answers `/healthz` as an instance, and prints that it is ready. Runs until it is
 * killed.
 */
import { createServer } from 'node:http';
import { acquireInstanceLock } from '../../../server/data-folder/instance-lock.ts';

const [dataDir = '', instanceId = ''] = process.argv.slice(2);
const lock = await acquireInstanceLock(dataDir);
if ('holder' in lock) {
  process.stdout.write(`held by ${lock.holder.pid}\n`);
} else {
  const server = createServer((_, response) => response.end(JSON.stringify({ instance: instanceId })));
  server.listen(0, '127.0.0.1', async () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    await lock.update({ host: '127.0.0.1', port: address.port, instanceId });
    process.stdout.write('holding\n');
  });
}
