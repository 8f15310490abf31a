/**
 * The one place where the name of the npm package is decided: that of package.json, or SLUICE_PACKAGE_NAME where it is released
 * under another one, such as `@owner/sluice`, because somebody else has the plain name.
 */
import manifest from '../../package.json' with { type: 'json' };

export const packageName = process.env.SLUICE_PACKAGE_NAME || manifest.name;
