/** The Responses API: create (plain, streamed, in the background), and the routes on a stored response. */
import type { Call } from './call.ts';
import { type Answer, composeAnswer, countConversationTokens, type Turn } from './conversation.ts';
import { DemoError } from './demo-error.ts';
import { newId } from './ids.ts';
import { events, json, pageOf, type Reply } from './reply.ts';
import { responseEvents } from './response-events.ts';
import { createResponse, responseUsage } from './response-object.ts';
import { readResponseRequest } from './response-request.ts';
import { createResponseStore, type ResponseStore, responseAt, type StoredResponse } from './response-store.ts';
import type { Route, RouteContext } from './route.ts';
import { countTokens } from './tokens.ts';

interface Responses {
  store: ResponseStore;
  now: () => number;
}

export function createResponseRoutes({ now }: RouteContext): Route[] {
  const responses: Responses = { store: createResponseStore(), now };
  const storedResponse = (call: Call) => responses.store.get(call.path.id ?? '');
  return [
    { method: 'POST', path: '/responses', handle: (call) => create(call, responses) },
    { method: 'POST', path: '/responses/input_tokens', handle: (call) => countInput(call, responses) },
    { method: 'POST', path: '/responses/compact', handle: (call) => compact(call, responses) },
    { method: 'GET', path: '/responses/:id', handle: (call) => retrieve(call, storedResponse(call), now()) },
    { method: 'DELETE', path: '/responses/:id', handle: (call) => remove(call.path.id ?? '', responses) },
    { method: 'POST', path: '/responses/:id/cancel', handle: (call) => cancel(storedResponse(call), now()) },
    {
      method: 'GET',
      path: '/responses/:id/input_items',
      handle: (call) => json(pageOf(storedResponse(call).inputItems, call.query)),
    },
  ];
}

async function create(call: Call, { store, now }: Responses): Promise<Reply> {
  const request = readResponseRequest(await call.parameters(), store);
  const answer = composeAnswer(request.conversation);
  const createdAtMs = now();
  const response = createResponse(request, answer, createdAtMs);
  const turns = [...request.turns, answerTurn(answer)];
  const stored = { response, inputItems: request.inputItems, turns, createdAtMs, isCancelled: false };
  if (request.store) store.add(stored);
  return request.stream ? events(responseEvents(response)) : json(responseAt(stored, createdAtMs));
}

function answerTurn(answer: Answer): Turn {
  return { role: 'assistant', text: answer.kind === 'text' ? answer.text : '', attachments: [] };
}

function retrieve(call: Call, stored: StoredResponse, nowMs: number): Reply {
  if (call.query.get('stream') !== 'true') return json(responseAt(stored, nowMs));
  return events(responseEvents(stored.response, Number(call.query.get('starting_after') ?? -1)));
}

function remove(id: string, { store }: Responses): Reply {
  store.delete(id);
  return json({ id, object: 'response', deleted: true });
}

function cancel(stored: StoredResponse, nowMs: number): Reply {
  if (!stored.response.background) {
    throw new DemoError({ status: 400, message: 'Cannot cancel a synchronous response.' });
  }
  const { status } = responseAt(stored, nowMs);
  if (status === 'queued' || status === 'in_progress') stored.isCancelled = true;
  return json(responseAt(stored, nowMs));
}

async function countInput(call: Call, { store }: Responses): Promise<Reply> {
  const request = readResponseRequest(await call.parameters(), store);
  return json({ object: 'response.input_tokens', input_tokens: countConversationTokens(request.conversation) });
}

/** Keeps the user messages and replaces everything else by one item that encodes the conversation. */
async function compact(call: Call, { store, now }: Responses): Promise<Reply> {
  const request = readResponseRequest(await call.parameters(), store);
  const summary = request.turns.map((turn) => `${turn.role}: ${turn.text}`).join('\n');
  const compaction = {
    id: newId('cmp_'),
    type: 'compaction',
    encrypted_content: Buffer.from(summary).toString('base64'),
  };
  const userMessages = request.inputItems.filter((item) => item.type === 'message' && item.role === 'user');
  return json({
    id: newId('resp_'),
    object: 'response.compaction',
    created_at: Math.floor(now() / 1000),
    output: [...userMessages, compaction],
    usage: responseUsage(countConversationTokens(request.conversation), countTokens(summary)),
  });
}
