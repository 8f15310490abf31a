/** The request for a model that a cloud hosts: in the API of the model's maker, within the cloud's envelope. */

import type { Envelope, HostedModel } from '../../apis/core/dialects/dialect.ts';
import { refuseStoredThread } from '../../apis/core/dialects/hosted-claude.ts';
import { parseLosslessJson, writeJson } from '../../apis/neutral/json-text.ts';
import type { Loss } from '../../apis/neutral/losses.ts';
import { isObject } from '../../contract/is-object.ts';
import type { PreparedRequest } from './request-translation.ts';

/** @throws GatewayError `invalid_value` for a body that is nested too deep, `thread_not_found` for one that continues a thread */
export async function inEnvelope(prepared: PreparedRequest, hosted: HostedModel): Promise<PreparedRequest> {
  const { call, sendable, earlier } = prepared;
  const unpacker = hosted.unpacking && (await hosted.unpacking.load());
  const { body: client, path, headers } = call;
  const envelope = hosted.envelope({ path, headers, isStream: client.fields.stream });
  const clientBody = sendable.bytes ? await sendable.bytes() : sendable.open();
  if (!Buffer.isBuffer(clientBody)) throw new Error('unreachable: conversations are sent from memory');
  const { body, droppedFields } = rewriteBody(clientBody, envelope);
  const losses = [...envelope.unavailable.betas, ...droppedFields].map((field): Loss => {
    if (field === 'thread') return { fate: 'emulated', field, code: 'unkept-thread' };
    return { fate: 'dropped', field, code: 'no-equal' };
  });
  return {
    ...prepared,
    call: { ...call, path: envelope.path, query: '', headers: envelope.headers },
    sendable: { length: body.length, open: () => body, bytes: async () => body, usageAsked: sendable.usageAsked },
    hosting: { hosted, unpacker: unpacker ?? null },
    losses: [...prepared.losses, ...losses],
    ...(earlier && { earlier: { ...earlier, bodies: earlier.bodies.map((part) => rewriteBody(part, envelope).body) } }),
  };
}

interface Enveloped {
  body: Buffer;
  /** The fields that were left out because the cloud does not have them. */
  droppedFields: readonly string[];
}

/** Preserves the digits of numbers and the order of members. */
function rewriteBody(body: Buffer, { omitted, added, unavailable, rewrite }: Envelope): Enveloped {
  const isSame = !rewrite && omitted.length === 0 && unavailable.fields.length === 0 && Object.keys(added).length === 0;
  const request = isSame ? null : parseLosslessJson(body.toString());
  if (!isObject(request)) return { body, droppedFields: [] };
  const droppedFields = unavailable.fields.filter((name) => name in request);
  if (droppedFields.includes('thread') && isObject(request.thread)) refuseStoredThread(request.thread.type);
  const members = Object.entries(request).filter(([name]) => !omitted.includes(name) && !droppedFields.includes(name));
  const inside = { ...Object.fromEntries(members), ...added };
  return { body: Buffer.from(writeJson(rewrite?.(inside, writeJson) ?? inside)), droppedFields };
}
