/** Writes captured conversations as JSON lines, one request after the other, in constant memory. */
import type { DatasetAnswer, DatasetCount, DatasetGap } from '../contract/dataset.ts';
import type { LossCode } from '../contract/loss-codes.ts';
import type { RequestInFull, RequestView } from '../contract/request-views.ts';
import { datasetLine } from './dataset-line.ts';

export interface DatasetSource {
  /** A page of the selected requests, newest first, starting before this sequence number. */
  list(before: number | undefined): Promise<{ requests: RequestView[]; next: number | null }>;
  read(id: string): Promise<RequestInFull>;
}

/** Yields lines, newest request first, and returns the counts of what is included and what is not. */
export async function* exportDataset(
  source: DatasetSource,
  answer: DatasetAnswer,
): AsyncGenerator<string, DatasetCount, undefined> {
  const count = new Counting();
  for (let before: number | undefined; ; ) {
    const { requests, next } = await source.list(before);
    for (const request of requests) {
      if ((request.shadowOf !== null) !== (answer === 'shadow')) continue;
      const line = await lineOf(source, request);
      if ('gap' in line) count.leave(line.gap);
      else {
        count.write(line.changed);
        yield `${line.text}\n`;
      }
    }
    if (next === null) return count.view;
    before = next;
  }
}

async function lineOf(source: DatasetSource, { id, captured, capability }: RequestView) {
  if (capability !== 'chat' && capability !== 'responses') return { gap: 'no-conversation' } as const;
  return captured === null ? ({ gap: 'not-captured' } as const) : datasetLine(await source.read(id));
}

class Counting {
  #conversations = 0;
  readonly #gaps = new Map<DatasetGap, number>();
  readonly #changed = new Map<LossCode, number>();

  write(changed: ReadonlySet<LossCode>): void {
    this.#conversations += 1;
    for (const code of changed) this.#changed.set(code, (this.#changed.get(code) ?? 0) + 1);
  }

  leave(gap: DatasetGap): void {
    this.#gaps.set(gap, (this.#gaps.get(gap) ?? 0) + 1);
  }

  get view(): DatasetCount {
    return {
      conversations: this.#conversations,
      left: Object.fromEntries(this.#gaps),
      changed: Object.fromEntries(this.#changed),
    };
  }
}
