/** Captured conversations as a dataset: JSON lines in OpenAI's chat format for fine-tuning. */
import type { LossCode } from './loss-codes.ts';

/** Which answers a dataset contains: those that clients received, or those of the shadows of their requests. */
export const datasetAnswers = ['own', 'shadow'] as const;
export type DatasetAnswer = (typeof datasetAnswers)[number];

/** Why a request is not in a dataset. The text follows a number of requests. */
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
  /** Number of lines. */
  conversations: number;
  /** Number of requests that are not included, by reason. */
  left: Partial<Record<DatasetGap, number>>;
  /** Number of conversations of which something was omitted or rewritten, by reason; the texts are `lossCodes`. */
  changed: Partial<Record<LossCode, number>>;
}
