import { type DataFolder, prepareDataFolder } from './data-folder.ts';
import { acquireInstanceLock, type InstanceInfo, type InstanceLock } from './instance-lock.ts';

/** A data folder that is this process's until the lock is released. */
export interface ClaimedFolder {
  folder: DataFolder;
  lock: InstanceLock;
}

/** Makes the folder ready and takes it, or answers who has it. Rejects with a GatewayError if it cannot be used. */
export async function claimFolder(dataDir: string): Promise<ClaimedFolder | { holder: InstanceInfo }> {
  const folder = prepareDataFolder(dataDir);
  const lock = await acquireInstanceLock(folder.path);
  return 'holder' in lock ? lock : { folder, lock };
}
