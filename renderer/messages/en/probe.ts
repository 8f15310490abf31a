import { findingTexts, remedyTexts } from '../../../server/contract/probe-texts.ts';

/** What a test of a provider found out, as the engine says it, but by the names that the window has for settings. */
export const probe = {
  findings: findingTexts,
  remedies: {
    ...remedyTexts,
    'check-proxy': () =>
      'Check the proxy’s address, name and password, and whether it may reach this host; or set this provider to use no proxy, under “Advanced”.',
    'add-authority': () =>
      'If you know the issuer (a company’s proxy, your own server), add its certificate to the additional certificate authorities in the settings.',
  },
};
