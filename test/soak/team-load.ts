/** The constant load of a team: answers, streams, responses, background jobs, uploads. Calls are not retried. */
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { eventually } from '../support/eventually.ts';
import { streamedText } from './team-upstream.ts';

export interface TeamLoad {
  /** Waits until each kind of call has been answered this many more times, or one has failed. */
  answered(times: number): Promise<void>;
  /** The number of answers of each kind. */
  readonly answers: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
  /** Resolves once all calls have ended. A failure also stops the load. */
  stop(): Promise<void>;
}

const callersOfEachKind = 2;
const uploadBytes = 2_000_000;
const question = { model: 'any', messages: [{ role: 'user' as const, content: 'Hi' }], max_tokens: 5 };

/** Each throws if the answer is not complete. */
const kinds: Record<string, (client: OpenAI) => Promise<unknown>> = {
  async answer(client) {
    expectSame((await client.chat.completions.create(question)).choices[0]?.message.content, 'Hi');
  },
  async stream(client) {
    const events = await client.chat.completions.create({
      ...question,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    for await (const { choices } of events) text += choices[0]?.delta.content ?? '';
    expectSame(text, streamedText);
  },
  async response(client) {
    expectSame(
      (await client.responses.create({ model: 'any', input: 'Hi', max_output_tokens: 5 })).status,
      'completed',
    );
  },
  async job(client) {
    const input = { model: 'any', input: 'Hi', max_output_tokens: 5, background: true };
    let job = await client.responses.create(input);
    while (job.status === 'queued' || job.status === 'in_progress') {
      await sleep(50);
      job = await client.responses.retrieve(job.id);
    }
    expectSame(job.status, 'completed');
    // This may reach another replica, which must not bill the job again once it can know that it was billed.
    await sleep(1_000);
    expectSame((await client.responses.retrieve(job.id)).status, 'completed');
  },
  async upload(client) {
    const file = new File([new Uint8Array(uploadBytes)], 'speech.wav');
    const { text } = await client.audio.transcriptions.create({ model: 'any', file });
    if (Number.parseInt(text, 10) < uploadBytes) throw new Error(`of the upload arrived: ${text}`);
  },
};

export function startTeamLoad(origin: string, apiKey: string): TeamLoad {
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 });
  const answers: Record<string, number> = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 0]));
  const failures: string[] = [];
  let isOver = false;
  const caller = async (kind: string, call: (client: OpenAI) => Promise<unknown>) => {
    while (!isOver && failures.length === 0) {
      await call(client).then(
        () => (answers[kind] = (answers[kind] ?? 0) + 1),
        (error: unknown) => failures.push(`${kind}: ${error}`),
      );
    }
  };
  const calls = Object.entries(kinds).flatMap(([kind, call]) =>
    Array.from({ length: callersOfEachKind }, () => caller(kind, call)),
  );
  return {
    answers,
    failures,
    async answered(times) {
      const enough = Object.entries(answers).map(([kind, count]) => [kind, count + times] as const);
      await eventually(() => failures.length > 0 || enough.every(([kind, count]) => (answers[kind] ?? 0) >= count));
    },
    async stop() {
      isOver = true;
      await Promise.all(calls);
    },
  };
}

function expectSame(seen: unknown, wanted: string): void {
  if (seen !== wanted) throw new Error(`${JSON.stringify(seen)} in place of ${JSON.stringify(wanted)}`);
}
