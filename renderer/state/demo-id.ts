import type { demoProviderId } from '../../server/contract/config.ts';

/** Of the built-in demo, which no other provider can have. The constant itself would bring the schemas of the configuration into the window. */
export const demoId: typeof demoProviderId = 'demo';
