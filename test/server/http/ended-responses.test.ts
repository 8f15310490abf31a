import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkout } from '../../support/program.ts';

const run = promisify(execFile);

/**
 * Answers 10,000 requests, 20 at a time, each of which holds 10 kB until it ends, and collects only young objects in between. Prints by
 * how many MB the heap has grown.
 */
const source = `(async () => {
  const { Agent, request } = require('node:http');
  const { listen } = await import(${JSON.stringify(join(checkout, 'server/http/server.ts'))});
  const server = await listen((_request, response) => {
    const held = new Array(1_250).fill(response);
    response.on('close', () => held.length);
    setImmediate(() => response.end());
  }, { host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true });
  const ask = () => new Promise((resolve, reject) => {
    request({ port: server.port, host: '127.0.0.1', agent }, (answer) => answer.resume().on('end', resolve)).on('error', reject).end();
  });
  let answered = 0;
  const askAll = async (count) => {
    const last = answered + count;
    const askInTurn = async () => {
      while (answered < last) {
        await ask();
        if (++answered % 50 === 0) gc({ type: 'minor' });
      }
    };
    await Promise.all(Array.from({ length: 20 }, askInTurn));
  };
  await askAll(200);
  gc();
  const before = process.memoryUsage().heapUsed;
  await askAll(10_000);
  console.log((process.memoryUsage().heapUsed - before) / 1e6);
  process.exit();
})()`;

test('ended responses are not kept until the next full collection', async () => {
  const { stdout } = await run(process.execPath, ['--expose-gc', '-e', source]);
  expect(Number(stdout)).toBeLessThan(20);
});
