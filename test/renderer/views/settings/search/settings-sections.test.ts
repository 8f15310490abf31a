import { describe, expect, it } from 'vitest';
import { en } from '../../../../../renderer/messages/en/en.ts';
import { zh } from '../../../../../renderer/messages/zh/zh.ts';
import { searchableSections, searchSettings } from '../../../../../renderer/views/settings/search/settings-sections.ts';

const alone = { sharedCounts: null };
const english = searchableSections(en, alone);

function found(query: string, sections = english): string[] {
  const { hasSection, hasRow } = searchSettings(sections, query);
  return sections
    .filter(({ id }) => hasSection(id))
    .flatMap(({ id, rows }) => [id, ...rows.filter(({ name }) => hasRow(id, name)).map(({ name }) => `${id}.${name}`)]);
}

describe('a search for settings', () => {
  it.each([
    ['a label', 'Largest upload', ['serving', 'serving.limits.multipartBodyBytes']],
    ['the help text', 'PEM files', ['network', 'network.extraCaFiles']],
    ['a synonym', 'dark', ['window', 'window.appearance']],
    ['a synonym of the other language', '端口', ['address', 'address.port']],
    ['a section and a row of it', 'serving queue wait', ['serving', 'serving.admission.waitMs']],
    ['what only a section is called', 'billing', ['prices']],
    ['nothing', 'teapot', []],
  ])('finds by %s', (_, query, expected) => {
    expect(found(query)).toEqual(expected);
  });

  it('finds all rows of a section by its title, whatever the case', () => {
    expect(found('rECORDS')).toEqual(
      expect.arrayContaining(['records.ledger.retentionDays', 'records.capture.retentionDays']),
    );
  });

  it('finds by English words in the Chinese window', () => {
    expect(found('concurrency', searchableSections(zh, alone))).toEqual(['serving', 'serving.admission.running']);
  });

  it('finds what is for replicas only where there are some', () => {
    const shared = { address: 'valkey://valkey.example:6379', problem: null, sinceMs: 0, replicas: 2 };
    expect(found('valkey')).toEqual([]);
    expect(found('valkey', searchableSections(en, { sharedCounts: shared }))).toEqual([
      'serving',
      'serving.sharedCounts.hardBudgets',
    ]);
  });

  it('finds everything while nothing is typed', () => {
    expect(found('  ')).toHaveLength(english.length + english.flatMap(({ rows }) => rows).length);
  });
});
