import { afterEach } from 'vitest';
import { type ScriptedUpstream, startUpstream } from './upstream.ts';

/** Starts scripted upstreams that are stopped after each test. Registers the hook. */
export function startUpstreamsInSuite(): typeof startUpstream {
  const started: ScriptedUpstream[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((upstream) => upstream.stop()));
  });
  return async (script) => {
    const upstream = await startUpstream(script);
    started.push(upstream);
    return upstream;
  };
}
