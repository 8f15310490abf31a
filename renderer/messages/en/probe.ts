import { causeText } from '../../../server/contract/causes.ts';
import { findingTexts, remedyTexts } from '../../../server/contract/probe.ts';

/** Findings of a provider test, in the engine's wording. Remedies use the window's names of settings. */
export const probe = {
  findings: { ...findingTexts, 'way-failed': ({ detail }: { detail: string }) => causeText(detail) },
  remedies: {
    ...remedyTexts,
    'check-proxy': () =>
      'Check the proxy’s address, name and password, and whether it may reach this host; or set this provider to use no proxy, under “Advanced”.',
    'add-authority': () =>
      'If you know the issuer (a company’s proxy, your own server), add its certificate to the additional certificate authorities in the settings.',
  },
};
