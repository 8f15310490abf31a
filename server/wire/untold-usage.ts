import type { UsageFormat } from './wire.ts';

/** Of passthrough: nothing that Sluice could price stands in these requests and answers. */
export const untoldUsage: UsageFormat = {
  likely: () => ({}),
  worst: () => ({}),
  hints: () => ({}),
  read: () => ({ usage: null, certainty: 'none', status: null }),
  text: null,
};
