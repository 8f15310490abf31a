import manifest from '../../package.json' with { type: 'json' };

/** Sluice's version. */
export const { version } = manifest;
