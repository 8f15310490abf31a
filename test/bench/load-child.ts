import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Job, JobResult } from './load.ts';
import { startProgram } from './proc.ts';

/** No job should take a quarter of this. */
const jobLimitMs = 60_000;

interface LoadEnds {
  upstreamPort: number;
  /** Runs one job; jobs must not overlap. */
  load(job: Job): Promise<JobResult>;
}

/** Starts the upstream and the load generator, which end with this process. */
export async function startLoadEnds(): Promise<LoadEnds> {
  const [upstream, generator] = [startEnd('upstream.ts'), startEnd('load.ts')];
  const [[upstreamPort]] = await Promise.all([answerOf(upstream), answerOf(generator)]);
  return {
    upstreamPort: Number(upstreamPort),
    async load(job) {
      const answered = answerOf(generator);
      generator.send(job);
      const [result] = await answered;
      return result as JobResult;
    },
  };
}

function startEnd(file: string): ChildProcess {
  const command = [process.execPath, join(import.meta.dirname, file)];
  return startProgram(command, 'load', { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

/** Resolves with the child's next message. Rejects if the child ends before, or takes too long. */
async function answerOf(child: ChildProcess): Promise<unknown[]> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(jobLimitMs)]);
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a child of the bench ended with ${code}`);
  });
  try {
    return await Promise.race([once(child, 'message', { signal }), ended]);
  } finally {
    ended.catch(() => {});
    over.abort();
  }
}
