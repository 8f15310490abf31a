import { type AdoptVerdict, adoptNoteTexts } from '../../../server/contract/change-views.ts';

export const adopt = {
  title: (program: string) => `Add from ${program}`,
  hint: 'What is there stays. Credentials go into the secret store once you add them.',
  nothing: 'Nothing in it can be added.',
  apply: 'Add',
  verdicts: { taken: 'Taken', changed: 'Taken with a change', 'left-out': 'Left out' } satisfies Record<
    AdoptVerdict,
    string
  >,
  becomes: {
    provider: (name: string) => `provider ${name}`,
    alias: (name: string) => `alias ${name}`,
  },
  key: (masked: string) => `credential ${masked}`,
  notes: adoptNoteTexts,
  paste: 'Paste…',
  pasteTitle: 'Paste a configuration',
  pasteLabel: 'A configuration of Sluice or another program, a .env file, or links that begin with ccswitch://',
};
