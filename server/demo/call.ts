/** One call to the demo provider as passed to a route's handler, and the parsing of its body. */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isObject } from '../contract/is-object.ts';
import { DemoError } from './demo-error.ts';
import { type JsonObject, Parameters } from './parameters.ts';

export interface Call {
  /** The named segments of the path, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  header(name: string): string | undefined;
  /** Reads a JSON or multipart body; throws a `DemoError` if it is malformed. */
  parameters(): Promise<Parameters>;
}

export async function readParameters(request: IncomingMessage): Promise<Parameters> {
  const contentType = request.headers['content-type'] ?? 'application/json';
  const bytes = await buffer(request);
  if (/^multipart\/form-data\b/i.test(contentType)) return new Parameters(await readForm(bytes, contentType), true);
  return new Parameters(readJson(bytes));
}

function readJson(bytes: Buffer): JsonObject {
  const message = 'We could not parse the JSON body of your request. The API expects a JSON object.';
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isObject(value)) return value;
  } catch {
    // Refused below, like JSON that is not an object.
  }
  throw new DemoError({ status: 400, message });
}

/** Parts with the same name become a list; `image[]` and `image[0]` count as `image`. */
async function readForm(bytes: Buffer, contentType: string): Promise<JsonObject> {
  const form = await parseForm(bytes, contentType);
  const values: Record<string, unknown> = Object.create(null);
  for (const [partName, value] of form) {
    const name = partName.replace(/\[\d*\]$/, '');
    const earlier = values[name];
    if (earlier === undefined) values[name] = value;
    else values[name] = Array.isArray(earlier) ? [...earlier, value] : [earlier, value];
  }
  return values;
}

async function parseForm(bytes: Buffer, contentType: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new DemoError({ status: 400, message: 'Could not parse multipart form.' });
  }
}
