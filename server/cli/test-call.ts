/** Uses node:http directly, because a proxy in the environment must not see the key. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

interface TestCall {
  /** The origin at which the running Sluice listens. */
  origin: string;
  secret: string;
  model: string;
}

/** Makes one short call to the model, and returns the result as one line of text. */
export async function askModel({ origin, secret, model }: TestCall): Promise<string> {
  const startedAt = performance.now();
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Reply with the word OK.' }] });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  try {
    const { status, answer } = await new Promise<{ status: number; answer: string }>((resolve, reject) => {
      const outgoing = request(
        `${origin}/v1/chat/completions`,
        { method: 'POST', headers, agent: false },
        (response) => {
          text(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject);
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
    if (status === 200) return `Test call: ${model} answered in ${Math.round(performance.now() - startedAt)} ms.`;
    return `Test call: ${model} failed with ${status}: ${messageIn(answer)}`;
  } catch (error) {
    return `Test call: ${error instanceof Error ? error.message : 'no answer'}`;
  }
}

function messageIn(answer: string): string {
  try {
    const { error } = JSON.parse(answer) as { error?: { message?: string } };
    return error?.message ?? answer.slice(0, 500);
  } catch {
    return answer.slice(0, 500);
  }
}
