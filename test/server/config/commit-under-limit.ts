/** Commits a configuration larger than the file size limit under which it runs, and prints the result. */

import { openConfigStore } from '../../../server/config/config-store.ts';
import { createConfPersistence } from '../../../server/config/persistence.ts';

// Without a handler, this signal ends a process that exceeds the limit. With one, the write is truncated as on a full
// disk.
process.on('SIGXFSZ', () => {});
const store = await openConfigStore({ persistence: createConfPersistence(process.argv[2] ?? '') });
const allowedHosts = Array.from({ length: 5_000 }, (_, index) => `host-${index}.example`);
const message = await store
  .commit((config) => ({ ...config, settings: { ...config.settings, allowedHosts } }))
  .then(() => 'committed')
  .catch((error: unknown) => (error instanceof Error ? error.message : 'unknown'));
process.stdout.write(JSON.stringify({ message, revision: store.current.revision }));
