/**
 * A service that stores objects as OpenAI does: an object posted to a collection gets an id, and can be read, listed,
 * changed and deleted. The formats follow https://platform.openai.com/docs/api-reference, as far as the official SDK
 * reads them.
 */
import type { ServerResponse } from 'node:http';
import { eventStream, json, type Script, type SeenRequest, sendPieces } from '../../../support/upstream.ts';

/** The prefix of ids in each collection, as at OpenAI. */
const prefixes: Record<string, string> = {
  files: 'file-',
  uploads: 'upload_',
  parts: 'part_',
  batches: 'batch_',
  vector_stores: 'vs_',
  file_batches: 'vsfb_',
  conversations: 'conv_',
  containers: 'cntr_',
  jobs: 'ftjob-',
  evals: 'eval_',
  runs: 'run_',
  skills: 'skill_',
  assistants: 'asst_',
  threads: 'thread_',
  messages: 'msg_',
  completions: 'chatcmpl-',
};

const isId = (segment: string) => Object.values(prefixes).some((prefix) => segment.startsWith(prefix));

/** The stream of a run, which `lib/AssistantStream` of the SDK assembles. */
export function runEvents(): Buffer {
  const run = { id: 'run_9', object: 'thread.run', thread_id: 'thread_9', assistant_id: 'asst_9' };
  const message = { id: 'msg_9', object: 'thread.message', thread_id: 'thread_9', role: 'assistant' };
  const delta = (value: string) => ({
    id: 'msg_9',
    object: 'thread.message.delta',
    delta: { content: [{ index: 0, type: 'text', text: { value, annotations: [] } }] },
  });
  const content = [{ type: 'text', text: { value: 'Grüße aus dem Faden', annotations: [] } }];
  const events: [string, unknown][] = [
    ['thread.created', { id: 'thread_9', object: 'thread' }],
    ['thread.run.created', { ...run, status: 'queued' }],
    ['thread.run.in_progress', { ...run, status: 'in_progress' }],
    ['thread.message.created', { ...message, status: 'in_progress', content: [] }],
    ['thread.message.delta', delta('Grüße ')],
    ['thread.message.delta', delta('aus dem Faden')],
    ['thread.message.completed', { ...message, status: 'completed', content }],
    ['thread.run.completed', { ...run, status: 'completed', usage: { total_tokens: 9 } }],
  ];
  const text = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join('');
  return Buffer.from(`${text}event: done\ndata: [DONE]\n\n`);
}

/** Each service has its own storage, and numbers its objects from one. */
export function openaiService(): Script {
  const kept = new Map<string, object>();
  let made = 0;
  return (request, response) => answer(request, response);

  async function answer(request: SeenRequest, response: ServerResponse): Promise<void> {
    const { method, url } = request;
    const path = new URL(url, 'http://upstream').pathname.slice('/v1/'.length);
    const segments = path.split('/');
    const last = segments.at(-1) ?? '';
    response.setHeader('x-request-id', `req_${++made}`);
    response.setHeader('openai-processing-ms', '7');
    const body = fieldsOf(request);
    if (last === 'content' && segments[0] === 'files') return sendFile(response);
    if (body.stream === true) return sendStream(response);
    if (method === 'GET') return isId(last) ? tell(response, last) : list(response, last, url);
    if (method === 'DELETE') return remove(response, last);
    if (isId(last)) return change(response, last, body);
    const owner = segments.at(-2) ?? '';
    if (prefixes[last] === undefined && isId(owner)) return act(response, owner, last);
    create(response, last, body);
  }

  function create(response: ServerResponse, collection: string, body: Record<string, unknown>): void {
    const id = `${prefixes[collection] ?? 'obj_'}${++made}`;
    const object = { id, object: collection, created_at: 1_700_000_000, status: 'completed', ...body };
    kept.set(id, object);
    json(response, object);
  }

  function act(response: ServerResponse, id: string, action: string): void {
    const file = action === 'complete' ? { file: { id: `file-${++made}`, object: 'file', bytes: 9 } } : {};
    const data = ['search', 'items'].includes(action) ? { object: 'list', data: [{ id: 'item_1' }] } : {};
    json(response, { ...kept.get(id), status: action, ...file, ...data });
  }

  function change(response: ServerResponse, id: string, body: Record<string, unknown>): void {
    const object = kept.get(id);
    if (object) kept.set(id, { ...object, ...body });
    tell(response, id);
  }

  function tell(response: ServerResponse, id: string): void {
    const object = kept.get(id);
    if (object) json(response, object);
    else missing(response, id);
  }

  /** Lists one object per page. */
  function list(response: ServerResponse, collection: string, url: string): void {
    const after = new URL(url, 'http://upstream').searchParams.get('after');
    const ids = [...kept.keys()].filter((id) => id.startsWith(prefixes[collection] ?? 'item_'));
    const at = after === null ? 0 : ids.indexOf(after) + 1;
    const data = ids.slice(at, at + 1).map((id) => kept.get(id));
    const last = ids[at] ?? null;
    json(response, { object: 'list', data, first_id: last, last_id: last, has_more: at + 1 < ids.length });
  }

  function remove(response: ServerResponse, id: string): void {
    kept.delete(id);
    json(response, { id, object: 'deleted', deleted: true });
  }
}

function missing(response: ServerResponse, id: string): void {
  const error = { message: `No such object: ${id}`, type: 'invalid_request_error', param: 'id', code: null };
  json(response, { error }, 404);
}

function sendFile(response: ServerResponse): void {
  const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256));
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': bytes.length,
    'content-disposition': 'attachment; filename="a.jsonl"',
  });
  response.end(bytes);
}

async function sendStream(response: ServerResponse): Promise<void> {
  eventStream(response);
  const events = runEvents();
  await sendPieces(response, events, [10, 100, 101, 500]);
}

/** The fields of a JSON body; for a form, only its size. */
function fieldsOf({ headers, body }: SeenRequest): Record<string, unknown> {
  if (body.length === 0) return {};
  return headers['content-type']?.startsWith('application/json') ? JSON.parse(body.toString()) : { bytes: body.length };
}
