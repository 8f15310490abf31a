import { reachableOrigin } from '../contract/address.ts';
import { type ClaimedFolder, claimFolder } from '../data-folder/claim-folder.ts';
import type { InstanceInfo } from '../data-folder/instance-lock.ts';
import type { Engine, EngineOptions } from '../engine/open-engine.ts';
import type { Control, ListeningControl } from './control.ts';
import { CliError } from './programs/exit-codes.ts';

/** The control plane of a data folder: that of the Sluice running on it, or of an engine opened for this command. */
export async function openControl(dataDir: string, options: EngineOptions): Promise<Control> {
  const claim = await claimFolder(dataDir);
  if ('holder' in claim) return openRemote(dataDir, claim.holder);
  return { origin: null, ...controlOf(await openEngineHere(claim, options), dataDir) };
}

/** The control plane of the Sluice running on the data folder; null if none is running. */
export async function openRunning(dataDir: string): Promise<Control | null> {
  const claim = await claimFolder(dataDir);
  if ('holder' in claim) return openRemote(dataDir, claim.holder);
  await claim.lock.release();
  return null;
}

/**
 * Like `openControl`, but an engine opened for this command listens on a free port of this machine until it is closed.
 */
export async function openListening(dataDir: string, options: EngineOptions): Promise<ListeningControl> {
  const claim = await claimFolder(dataDir);
  if ('holder' in claim) return openRemote(dataDir, claim.holder);
  const engine = await openEngineHere(claim, { ...options, listen: { host: '127.0.0.1', port: 0 } });
  try {
    const address = await engine.gateway.start();
    await claim.lock.update({ ...address, instanceId: engine.gateway.instanceId });
    return { origin: reachableOrigin(address), ...controlOf(engine, dataDir) };
  } catch (error) {
    await engine.close(0);
    throw error;
  }
}

/** This and the engine are imported only when needed; most commands find a running Sluice and never load the engine. */
async function openRemote(dataDir: string, holder: InstanceInfo): Promise<ListeningControl> {
  const { openRemoteControl } = await import('./remote-control.ts');
  return openRemoteControl(dataDir, holder);
}

async function openEngineHere(claim: ClaimedFolder, options: EngineOptions): Promise<Engine> {
  const { openEngine } = await import('../engine/open-engine.ts');
  return openEngine(claim, options);
}

function controlOf({ gateway, close }: Engine, dataDir: string): Omit<Control, 'origin'> {
  return {
    execute: gateway.execute,
    query: gateway.query,
    openEvents: async () => {
      throw new CliError(`No Sluice is running on ${dataDir}. Start it with "sluice serve".`);
    },
    close,
  };
}
