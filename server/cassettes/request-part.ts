/**
 * The request of an exchange in the form that is stored and compared: without secrets, and without what only its
 * transport needs.
 */
import { createHash } from 'node:crypto';
import type { CassetteRequest } from '../exchange/cassette/cassette-companion.ts';
import type { Redactor } from '../exchange/redact/redactor.ts';
import { boundedPattern } from '../ground/bounded-pattern.ts';
import type { FormPart, RecordedBody, RecordedRequest } from './format.ts';
import { parseShallowJson } from './parse-shallow-json.ts';

/** Headers that may affect an answer. Those of Anthropic and OpenAI name versions and previews. */
const keptHeaders = ['content-type', 'accept', 'anthropic-version', 'anthropic-beta', 'openai-beta'];
const formType = boundedPattern(/^multipart\/form-data\b/i);

type Described = Pick<CassetteRequest, 'method' | 'url' | 'wire' | 'headers' | 'body'>;

/** Resolves with equal values for two forms that differ only in their boundaries. */
export async function describeRequest(incoming: Described, redactor: Redactor): Promise<RecordedRequest> {
  const { method, url, wire, headers, body } = incoming;
  const headerEntries = keptHeaders.flatMap((name): [string, string][] => {
    const value = headers[name];
    if (typeof value !== 'string') return [];
    return [[name, formType.test(value) ? 'multipart/form-data' : redactor.header(name, value)]];
  });
  return {
    method,
    path: redactor.url(url),
    wire,
    headers: Object.fromEntries(headerEntries),
    body: body === null || body.length === 0 ? null : await describeBody(body, headers['content-type'], redactor),
  };
}

async function describeBody(bytes: Buffer, contentType: string | undefined, redactor: Redactor): Promise<RecordedBody> {
  if (contentType !== undefined && formType.test(contentType)) {
    const parts = await readForm(bytes, contentType, redactor);
    if (parts) return { form: parts };
  }
  const json = parseShallowJson(bytes.toString());
  if (json !== undefined) return { json: redactor.json(json) };
  return { bytes: bytes.length, sha256: sha256(bytes) };
}

/** Null if the form is damaged. */
async function readForm(bytes: Buffer, contentType: string, redactor: Redactor): Promise<FormPart[] | null> {
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
    return await Promise.all([...form].map(([name, value]) => describePart(redactor.text(name), value, redactor)));
  } catch {
    return null;
  }
}

async function describePart(name: string, value: string | File, redactor: Redactor): Promise<FormPart> {
  if (typeof value === 'string') return { name, value: redactor.text(value) };
  const bytes = Buffer.from(await value.arrayBuffer());
  const file = { filename: redactor.text(value.name), contentType: value.type };
  return { name, ...file, bytes: bytes.length, sha256: sha256(bytes) };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
