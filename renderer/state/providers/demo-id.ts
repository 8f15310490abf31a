import type { demoProviderId } from '../../../server/contract/config.ts';

/**
 * Id of the built-in demo, which no other provider can have. Importing the constant itself would pull the
 * configuration's schemas into the window's bundle.
 */
export const demoId: typeof demoProviderId = 'demo';
