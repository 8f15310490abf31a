/** Imports recordings from an HTTP Archive that a browser or a proxy has written. */
import { readFile } from 'node:fs/promises';
import { problemsOf } from '../config/check-config.ts';
import { describeFileProblem } from '../files/file-problem.ts';
import { isCredentialName } from '../wire/client-credentials.ts';
import { Registry, servedApis } from '../wire/registry.ts';
import { CassetteError, listRecordings, prepareFolder, readSettings, writeRecording } from './cassette-files.ts';
import { formatVersion, type RecordedExchange } from './format.ts';
import { type Har, type HarEntry, harSchema } from './har.ts';
import { Matching } from './matching.ts';
import { fileNameOf, numberOf } from './recording-name.ts';
import { Redactor } from './redactor.ts';
import { describeRequest } from './request-part.ts';
import { packBody, packHead } from './response-part.ts';

interface Imported {
  /** Number of files written. */
  imported: number;
  /** Number of requests to paths that Sluice does not serve, without an answer, or with files in a form. */
  skipped: number;
}

/** Adds the archive's requests to the cassette. Rejects with a CassetteError. */
export async function importHar(file: string, folder: string): Promise<Imported> {
  const har = await readHar(file);
  await prepareFolder(folder);
  const matching = new Matching(await readSettings(folder));
  let number = (await listRecordings(folder)).reduce((most, name) => Math.max(most, numberOf(name)), 0);
  const counts = { imported: 0, skipped: 0 };
  for (const entry of har.log.entries) {
    const recording = await recordingOf(entry, matching);
    if (recording === null) {
      counts.skipped++;
      continue;
    }
    const { exchange, label } = recording;
    const name = fileNameOf({ number: ++number, label, hash: matching.keysOf(exchange.request).loose });
    await writeRecording(folder, name, exchange).catch((error: unknown) => {
      throw new CassetteError(
        `The recording ${name} could not be written to ${folder}: ${describeFileProblem(error)}.`,
      );
    });
    counts.imported++;
  }
  return counts;
}

async function readHar(file: string): Promise<Har> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CassetteError(`${file} cannot be read: ${describeFileProblem(error)}.`);
  }
  const result = harSchema.safeParse(value);
  if (!result.success) throw new CassetteError(`${file} is no HTTP Archive: ${problemsOf(result.error)[0]}.`);
  return result.data;
}

const registry = new Registry(servedApis);

interface Found {
  exchange: RecordedExchange;
  label: string;
}

async function recordingOf({ request, response, timings }: HarEntry, matching: Matching): Promise<Found | null> {
  const { pathname, search } = new URL(request.url);
  const route = routeOf(request.method, pathname + search, headersOf(request.headers));
  const text = request.postData?.text ?? '';
  const { content } = response;
  const isLost = (request.postData !== undefined && text === '') || (content.size > 0 && content.text === '');
  if (route === null || isLost || response.status < 200 || response.status > 599) return null;
  const headers = headersOf(request.headers);
  const redactor = new Redactor(secretsIn(headers), matching.redactions);
  const incoming = {
    method: request.method,
    url: pathname + search,
    wire: route.wire,
    headers,
    body: Buffer.from(text),
  };
  const answerHeaders = headersOf(response.headers);
  const head = packHead({ status: response.status, headers: answerHeaders }, '', redactor);
  const bytes = Buffer.from(content.text, content.encoding === 'base64' ? 'base64' : 'utf8');
  const afterMs = Math.max(0, Math.round(timings?.wait ?? 0));
  const body = packBody(answerHeaders['content-type'], bytes.length > 0 ? [{ afterMs, bytes }] : [], redactor);
  const exchange: RecordedExchange = {
    version: formatVersion,
    request: await describeRequest(incoming, redactor),
    response: { ...head, ended: 'complete', body },
    usage: null,
  };
  return { exchange, label: route.label };
}

/** Null if Sluice does not serve the path. */
function routeOf(method: string, url: string, headers: Record<string, string>): { label: string; wire: string } | null {
  try {
    const { label, route } = registry.find(method, registry.locate(url, headers));
    return { label, wire: route.wire.name };
  } catch {
    return null;
  }
}

function headersOf(list: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name.toLowerCase(), value]));
}

function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  const values = Object.entries(headers).filter(([name]) => isCredentialName(name));
  return values.map(([, value]) => (value.startsWith('Bearer ') ? value.slice('Bearer '.length) : value));
}
