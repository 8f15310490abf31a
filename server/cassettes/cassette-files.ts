/** Reads and writes the files of a cassette. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { z } from 'zod';
import type { CassetteContents, RecordingSummary } from '../contract/cassette.ts';
import { mebibyte } from '../contract/units.ts';
import { temporaryInfix, writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, readRegularFile, systemErrorCode } from '../ground/files/regular-file.ts';
import { type CassetteSettings, cassetteSettingsSchema, defaultCassetteSettings } from './cassette-settings.ts';
import { exchangeSchema, type RecordedExchange } from './format.ts';
import { modelOf } from './recording.ts';

const settingsName = 'cassette.json';

/** A file of a cassette cannot be used. The message names the file and its field. */
export class CassetteError extends Error {
  override readonly name = 'CassetteError';
}

/**
 * The names of the recordings, in order. Rejects with a CassetteError.
 *
 * @param onlyNumbered leaves out files that are not named like recordings
 */
export async function listRecordings(folder: string, onlyNumbered = false): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => unreadable(folder, error));
  const byNumber = new Intl.Collator('en', { numeric: true });
  return names
    .filter((name) => name.endsWith('.json') && name !== settingsName && (!onlyNumbered || numberOf(name) > 0))
    .sort(byNumber.compare);
}

function unreadable(folder: string, error: unknown): never {
  const reason = systemErrorCode(error) === 'ENOENT' ? 'there is no such folder' : describeFileProblem(error);
  throw new CassetteError(`The cassette ${folder} cannot be read: ${reason}.`);
}

/** The folders of tests in a cassette, by name. One with settings of its own is another cassette. Rejects as `listRecordings` does. */
export async function listTests(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => unreadable(folder, error));
  const names = entries.filter((entry) => entry.isDirectory() && isTestFolder(entry.name)).map(({ name }) => name);
  const isPart = await Promise.all(names.map(async (name) => !(await isFile(join(folder, name, settingsName)))));
  return names.filter((_, index) => isPart[index]).sort();
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}

/** Its parent is there. Rejects with the system's error. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  });
}

/**
 * Creates the folder if it is missing, and removes temporary files left by a killed process. Rejects with a
 * CassetteError.
 */
export async function prepareFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await removeLeftovers(folder);
  } catch (error) {
    throw new CassetteError(`The cassette ${folder} cannot be created: ${describeFileProblem(error)}.`);
  }
}

/** Another process may still be writing younger files. */
const leftoverAgeMs = 60_000;

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.includes(`.json${temporaryInfix}`)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - leftoverAgeMs) await rm(path, { force: true });
  }
}

/** The default settings if there is no settings file. Rejects with a CassetteError. */
export async function readCassetteSettings(folder: string): Promise<CassetteSettings> {
  return (await readValid(join(folder, settingsName), cassetteSettingsSchema, true)) ?? defaultCassetteSettings;
}

/** Rejects with a CassetteError. */
export async function readRecording(folder: string, name: string): Promise<RecordedExchange> {
  const exchange = await readValid(join(folder, name), exchangeSchema, false);
  if (exchange === null) throw new CassetteError(`${join(folder, name)} is empty.`);
  return exchange;
}

/** A crash leaves either the complete old file or the complete new one. Rejects with the system's error. */
export function writeRecording(folder: string, name: string, exchange: RecordedExchange): Promise<void> {
  return writeFileDurably(join(folder, name), formatExchange(exchange));
}

async function readValid<T>(path: string, schema: z.ZodType<T>, mayBeMissing: boolean): Promise<T | null> {
  let value: unknown;
  try {
    value = JSON.parse(await readRegularFile(path));
  } catch (error) {
    if (mayBeMissing && systemErrorCode(error) === 'ENOENT') return null;
    throw new CassetteError(`${path} cannot be used: ${describeFileProblem(error)}.`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new CassetteError(`${path} cannot be used: ${describeIssue(result.error.issues[0])}.`);
}

type Issue = z.core.$ZodIssue;

function describeIssue(issue: Issue | undefined, above: readonly PropertyKey[] = []): string {
  if (!issue) return 'it does not fit the format';
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return describeIssue(nearestOf(issue.errors), path);
  const field = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return `${field === '' ? 'the file' : field.replace(/^\./, '')}: ${issue.message}`;
}

/**
 * The variant that was probably intended: the one with the fewest problems; on a tie, the one whose problems are
 * deepest in the value.
 */
function nearestOf(variants: readonly (readonly Issue[])[]): Issue | undefined {
  const depth = (issues: readonly Issue[]) => Math.max(0, ...issues.map(({ path }) => path.length));
  const sorted = variants.toSorted((one, other) => one.length - other.length || depth(other) - depth(one));
  return sorted[0]?.[0];
}

const step = '  ';

/**
 * Formats a recorded exchange so that it can be read and compared line by line: indented JSON, but one line for each
 * event of a stream.
 */
export function formatExchange(exchange: RecordedExchange): string {
  return `${write(exchange, '')}\n`;
}

function write(value: unknown, margin: string, name = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = margin + step;
  const areLines = name === 'events';
  const parts = Array.isArray(value)
    ? value.map((item) => (areLines ? JSON.stringify(item) : write(item, inner)))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}: ${write(item, inner, key)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0
    ? `${open}${close}`
    : `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${margin}${close}`;
}

interface NameParts {
  number: number;
  /** The route's path: `/v1/chat/completions`. */
  label: string;
  /** The request's hash. A request that is recorded again keeps its name. */
  hash: string;
}

const maxSlugLength = 40;

/**
 * The names of recordings, such as `0001-chat-completions-3f2a9c.json`, which sort in the order of the requests; and of
 * tests' folders.
 */
export function fileNameOf({ number, label, hash }: NameParts): string {
  const slug = label
    .toLowerCase()
    .replace(/^\/v1(?:beta)?\//, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replace(/^-|-$/g, '');
  return `${String(number).padStart(4, '0')}-${slug || 'request'}-${hash.slice(0, 6)}.json`;
}

/** Returns 0 for a name without a number. */
export function numberOf(name: string): number {
  const digits = /^\d{1,9}(?=-)/.exec(name)?.[0];
  return digits === undefined ? 0 : Number(digits);
}

const longestFolder = 80;
/** Names of devices, which Windows takes for no folder. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** Another one for each name of a test, on every file system. `test_weather[rain]` becomes `test_weather-rain-4f2a91`. */
export function folderOfTest(name: string): string {
  const plain = name
    .slice(0, longestFolder)
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-|-$/g, '');
  if (plain === name && !reserved.test(name)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 6);
  return plain === '' ? hash : `${plain}-${hash}`;
}

export function isTestFolder(name: string): boolean {
  return /^[a-z0-9_-]{1,100}$/.test(name);
}

// What a cassette holds, for a person who opens it. Reads only; nothing is replayed.

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
