import manifest from '../../package.json' with { type: 'json' };

/** Sluice's version, and its name in the npm registry. */
export const { version, name: packageName } = manifest;
