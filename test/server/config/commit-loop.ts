/** Commits endlessly, to be killed in the middle of a write. Prints each revision's mark before writing it. */

import { openConfigStore } from '../../../server/config/config-store.ts';
import { createConfPersistence } from '../../../server/config/persistence.ts';

const store = await openConfigStore({ persistence: createConfPersistence(process.argv[2] ?? '') });
const start = store.current.config.settings.port;
for (let mark = start + 1; ; mark++) {
  const allowedHosts = Array.from({ length: 2_000 }, (_, index) => `host-${mark}-${index}.example`);
  process.stdout.write(`${mark}\n`);
  await store.commit((config) => ({ ...config, settings: { ...config.settings, port: mark, allowedHosts } }));
}
