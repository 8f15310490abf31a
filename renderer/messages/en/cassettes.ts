import type { AuditActions } from './audit-actions.ts';

export const cassettes = {
  title: 'Record and replay',
  name: 'Cassette',
  hint: 'A folder of recorded requests with their answers, for tests that need no network and cost nothing.',
  modes: {
    group: 'As its group',
    off: 'Off',
    record: 'Record',
    replay: 'Replay',
    'replay-or-record': 'Replay, and record what is missing',
  },
  modeHints: {
    record: 'Providers answer. Recordings of equal requests are replaced.',
    replay: 'Recordings answer. No provider is asked.',
    'replay-or-record': 'Recordings answer. Providers are asked for what is missing.',
  },
  folder: 'Folder',
  folderHint: 'Keys, cookies and credentials are removed from its files.',
  folderWrong: 'Enter an absolute path, such as /home/me/project/cassettes.',
  holds: (recordings: number, count: string) => `${count} ${recordings === 1 ? 'recording' : 'recordings'}`,
  replayed: (count: string) => `${count} replayed`,
  missed: (count: string) => `${count} without a recording`,
  recorded: (count: string) => `${count} recorded`,
  failed: (count: string) => `${count} not written`,
  unopened: 'Not used yet',
  rewind: 'Start over',
  rewindHint: 'Replay equal requests from the first recording again, and read changed files.',
  /** A cassette that was opened with Sluice. */
  opened: {
    title: 'Cassette',
    onlyShown:
      'Nothing was switched on. To answer from it, choose “Replay” and this folder under “Testing” of a key or group.',
    recordings: 'Recordings',
    empty: 'It has no recordings.',
    unread: (file: string) => `${file} cannot be shown`,
    more: (count: string) => `and ${count} more`,
  },
  /** Tags of keys and groups in lists. */
  tags: { record: 'records', replay: 'replays', 'replay-or-record': 'replays' },
  /** Results shown for a request. */
  results: { replayed: 'replayed', recorded: 'recorded' },
};

export const cassetteActions: AuditActions<'cassette'> = {
  'cassette.rewind': () => 'rewound a cassette',
};
