/** One call to the demo, as its routes see it. */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isObject } from '../contract/is-object.ts';
import { DemoError } from './reply.ts';

export interface Call {
  /** The video that the path names; empty if it names none. */
  readonly id: string;
  /** The body's fields, from JSON or a form. A form's values are texts and files; of a repeated one the last counts. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  now(): number;
}

/** @throws DemoError if the body is malformed */
export async function readFields(request: IncomingMessage): Promise<Call['fields']> {
  if (request.method !== 'POST') return {};
  const contentType = request.headers['content-type'] ?? '';
  const bytes = await buffer(request);
  try {
    const fields: unknown = contentType.startsWith('multipart/form-data')
      ? Object.fromEntries(await formOf(bytes, contentType))
      : JSON.parse(bytes.toString());
    if (isObject(fields)) return fields;
  } catch {
    // Refused below, like JSON that is no object.
  }
  throw new DemoError(400, 'We could not parse the body of your request: it has to be a JSON object or a form.');
}

function formOf(bytes: Buffer, contentType: string): Promise<FormData> {
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
}

/** A boolean of JSON, or its text in a form. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}
