/** What a cassette holds, for a person who opens it. Reads only; nothing is replayed. */
import { stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { CassetteContents, RecordingSummary } from '../contract/cassette.ts';
import { mebibyte } from '../contract/units.ts';
import { listRecordings, readRecording, settingsName } from './cassette-files.ts';
import type { RecordedExchange } from './format.ts';
import { modelOf } from './recording.ts';

/** More are counted, and not read. */
const mostRead = 200;
/** Larger recordings, such as those of films, are listed by their names only. */
const largestReadBytes = 2 * mebibyte;
const fileExtensions: readonly string[] = ['.json', '.sluice-cassette'];

/**
 * @param path a cassette's folder, one of its recordings, or its `cassette.json`
 * @returns null if it is none of them
 */
export async function readCassetteContents(path: string): Promise<CassetteContents | null> {
  try {
    const folder = await folderOf(path);
    if (folder === null) return null;
    const names = await listRecordings(folder);
    const recordings: RecordingSummary[] = [];
    // One after the other, since all at once would be in memory together.
    for (const name of names.slice(0, mostRead)) recordings.push(await summarize(folder, name));
    return { folder, recordings, total: names.length };
  } catch {
    return null;
  }
}

async function folderOf(path: string): Promise<string | null> {
  if ((await stat(path)).isDirectory()) return path;
  if (!fileExtensions.includes(extname(path))) return null;
  const folder = dirname(path);
  const isOfCassette = basename(path) === settingsName || (await read(folder, basename(path))) !== null;
  return isOfCassette ? folder : null;
}

async function summarize(folder: string, name: string): Promise<RecordingSummary> {
  const exchange = await read(folder, name);
  if (!exchange) return { name, call: null, model: null, status: null };
  const { request, response } = exchange;
  return { name, call: `${request.method} ${request.path}`, model: modelOf(request), status: response.status };
}

/** Null for a file that is no recording, or too large to look into. */
async function read(folder: string, name: string): Promise<RecordedExchange | null> {
  try {
    const { size } = await stat(join(folder, name));
    return size > largestReadBytes ? null : await readRecording(folder, name);
  } catch {
    return null;
  }
}
