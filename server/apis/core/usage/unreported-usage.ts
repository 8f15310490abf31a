import type { UsageFormat } from '../wire.ts';

/** For passthrough: these requests and responses contain no usage that Sluice could price. */
export const unreportedUsage: UsageFormat<never> = {
  likely: () => ({}),
  worst: () => ({}),
  hints: () => ({}),
  read: () => ({ usage: null, certainty: 'none', status: null }),
  text: null,
};
