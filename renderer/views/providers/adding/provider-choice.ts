import type { DetectedServer, Preset } from '../../../../server/contract/preset.ts';

/** The service to add: a preset, possibly with a detected local server, or a custom address. */
export type Choice = { preset: Preset; found?: DetectedServer; variable?: string } | 'custom';
