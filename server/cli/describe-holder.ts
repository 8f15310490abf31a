/** Describes the process that listens on a port: a Sluice with its data folder, or another program by name. */
import { get } from 'node:http';
import { z } from 'zod';
import { reachableHost } from '../contract/address.ts';
import { after } from '../ground/timers.ts';
import { findDataFolder } from './find-data-folder.ts';
import { findPortHolder, type PortHolder } from './port-holder.ts';

const limitMs = 1_000;
const maxReplyBytes = 64 * 1024;
const healthSchema = z.object({ status: z.literal('ok'), instance: z.string() });

interface DescribedHolder {
  isSluice: boolean;
  /** Example: `Sluice (process 4711, data folder /home/me/.local/share/sluice)`. */
  text: string;
}

/** Undefined if no process was found and `/healthz` does not answer as Sluice does. */
export async function describeHolder(host: string, port: number): Promise<DescribedHolder | undefined> {
  const [holder, isSluice] = await Promise.all([findPortHolder(port), answersAsSluice(host, port)]);
  if (isSluice) return { isSluice, text: await describeSluice(holder) };
  return holder && { isSluice, text: `${holder.name} (process ${holder.pid})` };
}

async function describeSluice(holder: PortHolder | undefined): Promise<string> {
  if (!holder) return 'a Sluice of another user';
  const dataDir = await findDataFolder(holder.pid);
  const folderText = dataDir === undefined ? '' : `, data folder ${dataDir}`;
  return `Sluice (process ${holder.pid}${folderText})`;
}

/** Whether its `/healthz` answers as Sluice does. */
function answersAsSluice(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: reachableHost(host), port, path: '/healthz', agent: false };
    const request = get(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > maxReplyBytes) request.destroy();
      });
      response.on('end', () => resolve(isHealth(text)));
      response.on('error', () => resolve(false));
    });
    request.on('error', () => resolve(false));
    const timer = after(() => request.destroy(new Error('timeout')), limitMs);
    request.on('close', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

function isHealth(text: string): boolean {
  try {
    return healthSchema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
