/** The first call of a new user: its shell command, its body, and the text of its answer. Pure. */
import { errorTextOf } from '../../state/calls/gateway-api.ts';

export type CallAnswer =
  | { kind: 'answered'; isOk: boolean; text: string; requestId: string | null; durationMs: number }
  | { kind: 'keyless' }
  | { kind: 'unreachable' };

/** Placeholder for a key that is not shown. */
export const hiddenKey = 'sk-sluice-…';

export function callBody(model: string) {
  return { model, messages: [{ role: 'user', content: 'Hello! What can you do?' }] };
}

export function callCommand({ baseUrl, key, model }: { baseUrl: string; key: string; model: string }): string {
  const body = JSON.stringify(callBody(model)).replaceAll("'", "'\\''");
  return [
    `curl ${baseUrl}/chat/completions`,
    `-H "Authorization: Bearer ${key}"`,
    '-H "Content-Type: application/json"',
    `-d '${body}'`,
  ].join(' \\\n  ');
}

interface CallReply {
  isOk: boolean;
  text: string;
  requestId: string | null;
  durationMs: number;
}

export function answerOf(reply: CallReply): CallAnswer {
  const content = reply.isOk ? contentOf(reply.text) : null;
  // An answer in any other format is shown as it is.
  return { kind: 'answered', ...reply, isOk: content !== null, text: content ?? errorTextOf(reply.text).message };
}

function contentOf(text: string): string | null {
  try {
    const reply: { choices?: { message?: { content?: unknown } }[] } = JSON.parse(text);
    const content = reply.choices?.[0]?.message?.content;
    return typeof content === 'string' && content !== '' ? content : null;
  } catch {
    return null;
  }
}
