/** `sluice log --export dataset`: captured conversations as JSON lines for fine-tuning. */
import type { DatasetAnswer, DatasetCount, DatasetGap } from '../contract/dataset.ts';
import { datasetGaps } from '../contract/dataset.ts';
import { type LossCode, lossCodes } from '../contract/loss-codes.ts';
import type { RequestFilterInput } from '../contract/queries.ts';
import { exportDataset } from '../datasets/export-dataset.ts';
import type { VerbContext } from './verb.ts';

/** Prints the lines, and reports on stderr what is not included. */
export async function printDataset(
  { control, terminal, output }: VerbContext,
  filter: RequestFilterInput,
  answer: DatasetAnswer,
): Promise<void> {
  const source = {
    list: (before: number | undefined) =>
      control.query({ type: 'requests', filter, limit: 500, ...(before !== undefined && { before }) }),
    read: (id: string) => control.query({ type: 'request', id }),
  };
  const lines = exportDataset(source, answer);
  let next = await lines.next();
  while (!next.done) {
    if (!terminal.stdout.write(next.value)) await new Promise((resolve) => terminal.stdout.once('drain', resolve));
    next = await lines.next();
  }
  output.note(describeCount(next.value));
}

export function describeCount({ conversations, left, changed }: DatasetCount): string {
  const summary = `${conversations} ${conversations === 1 ? 'conversation' : 'conversations'} written.`;
  const gaps = Object.entries(left).map(([gap, count]) => `${count} ${datasetGaps[gap as DatasetGap]}`);
  const losses = Object.entries(changed).map(([code, count]) => `  ${count}: ${lossCodes[code as LossCode]}`);
  return [
    gaps.length === 0 ? summary : `${summary} Left out: ${gaps.join(', ')}.`,
    ...(losses.length === 0 ? [] : ['Parts that were left out or rewritten, by number of conversations:', ...losses]),
  ].join('\n');
}
