import type { DetectedServer, Preset } from '../../../server/contract/preset.ts';

/** What is to be added: a known service, a local server that answers now, or anything else by its address. */
export type Choice = { preset: Preset; found?: DetectedServer; variable?: string } | 'custom';
