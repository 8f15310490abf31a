/**
 * Starts and stops the engine in the desktop's process. There is at most one engine at a time. Knows nothing of tray and
 * window, which subscribe to its state.
 */
import { claimFolder } from '../server/data-folder/claim-folder.ts';
import type { Gateway } from '../server/engine/gateway.ts';
import { type Engine, type EngineOptions, openEngine } from '../server/engine/open-engine.ts';
import { type StartProblem, startProblemOf, stopProblemOf } from './start-problem.ts';

export type EngineState =
  | { kind: 'off' }
  | { kind: 'starting' }
  | { kind: 'serving'; baseUrl: string }
  | { kind: 'stopping' }
  | { kind: 'failed'; problem: StartProblem };

export interface EngineHost {
  readonly state: EngineState;
  /** Null while the engine is not serving. */
  readonly gateway: Gateway | null;
  readonly logFile: Engine['logFile'] | null;
  /** Resolves when the engine is serving or has failed to start; `state` says which. */
  switchOn(): Promise<void>;
  /** Gives running requests ten seconds to end. Resolves also if the engine did not end cleanly; `state` says so. */
  switchOff(): Promise<void>;
  /** Returns a function that removes the listener. */
  onChange(listener: (state: EngineState) => void): () => void;
}

/** The same as the default of `sluice serve --grace-period`. */
const drainMs = 10_000;

export function createEngineHost(dataDir: string, options: EngineOptions): EngineHost {
  let state: EngineState = { kind: 'off' };
  let engine: Engine | null = null;
  let queue: Promise<void> = Promise.resolve();
  const listeners = new Set<(state: EngineState) => void>();

  const setState = (next: EngineState) => {
    state = next;
    for (const listener of [...listeners]) listener(next);
  };
  /** Runs starts and stops one after the other, in the order of the calls. */
  const enqueue = (operation: () => Promise<void>) => {
    queue = queue.then(operation, operation);
    return queue;
  };
  const switchOn = async () => {
    if (engine) return;
    setState({ kind: 'starting' });
    try {
      const started = await startEngine(dataDir, options);
      if ('problem' in started) return setState({ kind: 'failed', problem: started.problem });
      engine = started.engine;
      setState({ kind: 'serving', baseUrl: started.baseUrl });
    } catch (error) {
      setState({ kind: 'failed', problem: startProblemOf(error) });
    }
  };
  const switchOff = async () => {
    const ending = engine;
    engine = null;
    if (ending) setState({ kind: 'stopping' });
    try {
      await ending?.close(drainMs);
      setState({ kind: 'off' });
    } catch (error) {
      ending?.logFile.log.error({ error }, 'did not stop cleanly');
      setState({ kind: 'failed', problem: stopProblemOf(error) });
    }
  };
  return {
    get state() {
      return state;
    },
    get gateway() {
      return engine?.gateway ?? null;
    },
    get logFile() {
      return engine?.logFile ?? null;
    },
    switchOn: () => enqueue(switchOn),
    switchOff: () => enqueue(switchOff),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

type StartResult = { engine: Engine; baseUrl: string } | { problem: StartProblem };

async function startEngine(dataDir: string, options: EngineOptions): Promise<StartResult> {
  const claim = await claimFolder(dataDir);
  if ('holder' in claim) return { problem: { code: 'folder-taken', folder: dataDir, pid: claim.holder.pid } };
  const engine = await openEngine(claim, options);
  try {
    const address = await engine.gateway.start();
    await claim.lock.update({ ...address, instanceId: engine.gateway.instanceId });
    if (engine.config.isFirstRun) await engine.gateway.execute({ type: 'key.create', name: 'First key' });
    const { baseUrl } = await engine.gateway.query({ type: 'status' });
    engine.logFile.log.info({ ...address, pid: process.pid }, 'started by the desktop');
    return { engine, baseUrl: baseUrl ?? '' };
  } catch (error) {
    await engine.close(0);
    throw error;
  }
}
