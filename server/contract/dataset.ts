/** Captured conversations as a dataset: JSON lines in OpenAI's chat format for fine-tuning. */
import type { LossCode } from './loss-codes.ts';

/** Whose answers a dataset has: those that clients got, or those of the shadows of their requests. */
export const datasetAnswers = ['own', 'shadow'] as const;
export type DatasetAnswer = (typeof datasetAnswers)[number];

/** Why a request is not in a dataset, with a text that follows a number of requests. */
export const datasetGaps = {
  'not-captured': 'not captured',
  'no-conversation': 'not a conversation',
  'not-answered': 'without an answer',
  'cut-short': 'with an answer that was not finished',
  'not-whole': 'not captured in full',
  unreadable: 'that cannot be read',
  'not-expressible': 'with parts that the format does not have',
} as const;
export type DatasetGap = keyof typeof datasetGaps;

export interface DatasetCount {
  /** Lines. */
  conversations: number;
  /** Requests that are not in it. */
  left: Partial<Record<DatasetGap, number>>;
  /** Conversations of which something was left out or rewritten, by why; the texts are `lossCodes`. */
  changed: Partial<Record<LossCode, number>>;
}
