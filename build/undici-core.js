/**
 * The parts of undici that the transport uses. The package's main file also loads its fetch, mocks and caches, which
 * costs 30 ms at a start and 12 MB. The bundle uses this file instead of the main file; a name that is missing here
 * fails the build.
 */
export { default as errors } from 'undici/lib/core/errors.js';
export { default as Client } from 'undici/lib/dispatcher/client.js';
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
