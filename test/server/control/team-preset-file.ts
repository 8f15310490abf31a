import type { TeamPreset } from '../../../server/contract/team-preset.ts';

/** A typical team preset: a provider with a place for a credential, an alias, a group, a setting. */
export const acmePreset = {
  teamPreset: 1,
  name: 'Acme engineering',
  organisation: 'Acme',
  contact: 'it@acme.example',
  version: '2026-11',
  providers: [
    {
      id: 'acme',
      name: 'Acme models',
      baseUrl: 'http://127.0.0.1:9/acme/v1',
      credentials: [{ id: 'own', label: 'Your own key, from the intranet' }],
      models: ['gpt-acme'],
    },
  ],
  aliases: [{ name: 'team/fast', targets: [{ provider: 'acme', model: 'gpt-acme' }] }],
  groups: [{ id: 'default', models: ['gpt-*', 'team/*'], policy: { retries: 5 } }],
  settings: { ledger: { retentionDays: 30 } },
} satisfies TeamPreset;
