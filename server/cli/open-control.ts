import { claimFolder } from '../data-folder/claim-folder.ts';
import type { EngineOptions } from '../open-engine.ts';
import type { Control } from './control.ts';
import { CliError } from './exit-codes.ts';

/** The control plane of a data folder: of the Sluice running on it, else of an engine opened for this command. */
export async function openControl(dataDir: string, options: EngineOptions): Promise<Control> {
  const claim = await claimFolder(dataDir);
  if ('holder' in claim) {
    const { openRemoteControl } = await import('./remote-control.ts');
    return openRemoteControl(dataDir, claim.holder);
  }
  const { openEngine } = await import('../open-engine.ts');
  const { gateway, close } = await openEngine(claim, options);
  return {
    origin: null,
    execute: gateway.execute,
    query: gateway.query,
    openEvents: async () => {
      throw new CliError(`No Sluice is running on ${dataDir}. Start it with "sluice serve".`);
    },
    close,
  };
}
