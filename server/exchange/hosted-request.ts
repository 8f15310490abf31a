/** The request for a model that a cloud offers: in the API of the model's maker, in the cloud's envelope. */
import { isObject } from '../contract/is-object.ts';
import type { Envelope, HostedModel } from '../providers/dialect.ts';
import { parseJson, writeJson } from '../translate/json-text.ts';
import type { PreparedRequest } from './translation/request-translation.ts';

/** @throws GatewayError `invalid_value` for a body that is nested too deep */
export async function inEnvelope(prepared: PreparedRequest, hosted: HostedModel): Promise<PreparedRequest> {
  const { call, sendable } = prepared;
  const unpacker = hosted.unpacking && (await hosted.unpacking.load());
  const { body: client, path, headers } = call;
  const envelope = hosted.envelope({ path, headers, isStream: client.fields.stream });
  const given = sendable.bytes ? await sendable.bytes() : sendable.open();
  const body = Buffer.isBuffer(given) ? rewritten(given, envelope) : given;
  if (!Buffer.isBuffer(body)) throw new Error('unreachable: conversations are sent from memory');
  return {
    ...prepared,
    call: { ...call, path: envelope.path, query: '', headers: envelope.headers },
    sendable: { length: body.length, open: () => body, bytes: async () => body, usageAsked: sendable.usageAsked },
    hosting: { hosted, unpacker: unpacker ?? null },
  };
}

/** Numbers keep their digits, and the members their order. */
function rewritten(body: Buffer, { omitted, added }: Envelope): Buffer {
  if (omitted.length === 0 && Object.keys(added).length === 0) return body;
  const request = parseJson(body.toString());
  if (!isObject(request)) return body;
  const kept = Object.fromEntries(Object.entries(request).filter(([name]) => !omitted.includes(name)));
  return Buffer.from(writeJson({ ...kept, ...added }));
}
