import { afterEach } from 'vitest';

interface Started {
  stop(): Promise<unknown>;
}

/**
 * For anything that tests start, such as gateways and upstreams. Everything is stopped after each test, in reverse
 * order. Registers the hook.
 */
export function stopAfterEach(): <T extends Started>(starting: Promise<T>) => Promise<T> {
  const started: Started[] = [];
  afterEach(async () => {
    for (const each of started.splice(0).reverse()) await each.stop();
  });
  return async (starting) => {
    const each = await starting;
    started.push(each);
    return each;
  };
}
