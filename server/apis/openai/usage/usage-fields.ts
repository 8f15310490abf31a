import { outputLimitFields } from './output-limit.ts';

/** The fields on which the usage of a request depends, of any operation. */
export const usageFields = [
  ...outputLimitFields,
  'messages',
  'input',
  'prompt',
  'conversation',
  'n',
  'seconds',
  'size',
  'quality',
  'service_tier',
  'modalities',
] as const;

export type UsageField = (typeof usageFields)[number];
