/**
 * Formats the figures as Markdown tables: medians over the rounds, the ratio of the measured gateway to its peer, and
 * the target.
 */
import type { Conversation, Said } from './conversations.ts';
import { type Column, median, type Samples } from './samples.ts';
import { translatedConversations, translatedKey } from './translated-phase.ts';

interface Target {
  is: 'most' | 'least';
  bound: number;
  /** What is compared with the bound: the figure itself, its ratio to the peer's, or its difference from the peer's. */
  of: 'value' | 'ratio' | 'difference';
}

interface Figure {
  key: string;
  label: string;
  target?: Target;
}

interface Group {
  title: string;
  columns: readonly Column[];
  /** The column whose figures have targets, and the column with which they are compared; null for no comparison. */
  subject: Column;
  peer: Column | null;
  figures: readonly Figure[];
}

const most = (bound: number, of: Target['of'] = 'value'): Target => ({ is: 'most', bound, of });
const least = (bound: number, of: Target['of'] = 'value'): Target => ({ is: 'least', bound, of });

const compared = { subject: 'sluice', peer: 'pipe' } as const;
const alone = { subject: 'sluice', peer: null } as const;
const translation = { subject: 'translated', peer: 'identity' } as const;
/** Only gateways that were measured get a column. */
const gateways = ['pipe', 'express', 'nginx', 'portkey', 'sluice'] as const;

const groups: readonly Group[] = [
  {
    title: 'Start and memory',
    columns: gateways,
    ...compared,
    figures: [
      { key: 'start.firstAnswerMs', label: 'spawn to first chat answer, ms', target: most(350) },
      { key: 'start.idleMb', label: 'RSS idle, MB', target: most(100) },
      { key: 'paced.peakMb', label: 'peak RSS with 200 streams, MB', target: most(180) },
    ],
  },
  {
    title: 'Added time of a plain chat request, one connection',
    columns: gateways,
    ...compared,
    figures: [
      // The target is nginx + 60 µs; nginx adds about 27 µs less than the pipe.
      { key: 'latency.p50Us', label: 'added p50, µs', target: most(33, 'difference') },
      { key: 'latency.p99Us', label: 'added p99, µs' },
    ],
  },
  {
    title: 'Plain chat, 32 connections',
    columns: ['direct', ...gateways],
    ...compared,
    figures: [
      { key: 'plain.short.cpuUs', label: '1.2 kB question, CPU µs/request', target: most(1.6, 'ratio') },
      { key: 'plain.short.perSecond', label: '1.2 kB question, requests/s' },
      { key: 'plain.short.busyPercent', label: '1.2 kB question, gateway busy, %' },
      { key: 'plain.long-question.cpuUs', label: '100 kB question, CPU µs/request', target: most(1.6, 'ratio') },
      { key: 'plain.long-question.perSecond', label: '100 kB question, requests/s' },
      { key: 'plain.long-answer.cpuUs', label: '32 kB answer, CPU µs/request', target: most(1.6, 'ratio') },
      { key: 'plain.long-answer.perSecond', label: '32 kB answer, requests/s' },
    ],
  },
  {
    title: 'Streams, 200 at once, an event each 20 ms, usage asked for by Sluice and taken out',
    columns: gateways,
    ...compared,
    figures: [
      { key: 'paced.cpuUs', label: 'CPU µs/event', target: most(1.2, 'ratio') },
      { key: 'paced.firstUs', label: 'added time to first event p50, µs', target: most(300) },
      {
        key: 'paced.burstFirstMs',
        label: 'all opened at once, added time to first event p99, ms',
        target: most(12, 'difference'),
      },
    ],
  },
  {
    title: 'Streams, 16 at once, at full speed',
    columns: gateways,
    ...compared,
    figures: [
      { key: 'full-asked.mbPerSecond', label: 'usage asked for by the client, MB/s', target: least(1.3, 'ratio') },
      { key: 'full-asked.cpuUs', label: 'usage asked for by the client, CPU µs/event' },
      { key: 'full.mbPerSecond', label: 'by Sluice and taken out, MB/s', target: least(1.3, 'ratio') },
      { key: 'full.cpuUs', label: 'by Sluice and taken out, CPU µs/event' },
    ],
  },
  ...(['text', 'thinking', 'arguments'] as const).map((said) => translatedGroup('full', said)),
  translatedGroup('paced', 'text'),
  {
    title: 'Translated streams, an event each 20 ms',
    columns: ['identity', 'translated'],
    ...translation,
    figures: [{ key: 'translated.firstUs', label: 'time to first event p50, µs', target: most(1_000, 'difference') }],
  },
  {
    title: 'Multipart upload of 25 MB, one after the other',
    columns: gateways,
    ...compared,
    figures: [
      { key: 'upload.cpuMs', label: 'CPU ms/upload', target: most(1.4, 'ratio') },
      { key: 'upload.growthMb', label: 'peak RSS over idle, MB', target: most(40) },
    ],
  },
  {
    title: 'Cost must not grow: 10,000 keys, 1,000 models and a full ledger against an empty program',
    columns: ['sluice-empty', 'sluice-full'],
    subject: 'sluice-full',
    peer: 'sluice-empty',
    figures: [{ key: 'growth.cpuUs', label: 'plain chat, CPU µs/request', target: most(1.05, 'ratio') }],
  },
  {
    title: 'The window, in Chromium',
    columns: ['sluice'],
    ...alone,
    figures: [
      { key: 'window.firstJsKb', label: 'first JavaScript, kB gzip', target: most(300) },
      { key: 'window.overviewJsKb', label: 'with the overview’s own, kB gzip' },
      { key: 'window.interactiveMs', label: 'opening to interactive, ms', target: most(1_000) },
      { key: 'window.firstVisitMs', label: 'first visit of a screen, ms', target: most(150) },
      { key: 'window.longestTaskMs', label: 'longest task of opening and visits, ms', target: most(200) },
      { key: 'window.longBodyMs', label: 'a captured body of 5 MB opens, ms', target: most(300) },
      { key: 'window.overviewMs', label: 'overview of 90 days, 1,000,000 rows, ms', target: most(300) },
      { key: 'window.tailPerSecond', label: 'live tail, requests/s', target: least(195) },
      { key: 'window.tailFps', label: 'live tail, frames/s', target: least(50) },
      { key: 'window.tailGapMs', label: 'live tail, between frames p99, ms' },
    ],
  },
  {
    title: 'The desktop, in the double of Electron',
    columns: ['sluice'],
    ...alone,
    figures: [
      {
        key: 'desktop.addedMb',
        label: 'own memory over that of the engine alone, window closed, MB',
        target: most(10),
      },
      { key: 'desktop.toggleMs', label: 'click in the tray until it shows, ms' },
      { key: 'desktop.answeredAfterToggle', label: 'requests answered after that', target: most(0) },
    ],
  },
];

function translatedGroup(pace: Conversation['pace'], said: Said): Group {
  const speed = pace === 'full' ? 'at full speed' : 'an event each 20 ms';
  return {
    title: `Translated streams of ${said}, ${speed}, CPU µs/event`,
    columns: ['identity', 'translated'],
    ...translation,
    figures: translatedConversations
      .filter((each) => each.said === said)
      .map((each) => ({
        key: translatedKey(pace, each),
        label: `${each.client} at ${each.upstream}`,
        target: most(2, 'ratio'),
      })),
  };
}

export function report(samples: Samples): string {
  return groups
    .map((group) => table(group, samples))
    .filter(Boolean)
    .join('\n\n');
}

/** Empty if no figure of the group was measured. */
function table(group: Group, samples: Samples): string {
  const figures = group.figures.filter((figure) => samples.values[figure.key]);
  if (figures.length === 0) return '';
  const columns = group.columns.filter((column) => figures.some(({ key }) => samples.values[key]?.[column]));
  const ratio = group.peer === null ? [] : [`${group.subject} ÷ ${group.peer}`];
  const head = ['', ...columns, ...ratio, 'target', ''];
  const rows = figures.map((figure) => row({ ...group, columns }, figure, samples));
  return [`**${group.title}**`, '', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function row(group: Group, figure: Figure, samples: Samples): string[] {
  const values = (column: Column) => samples.values[figure.key]?.[column] ?? [];
  const [own, peers] = [values(group.subject), group.peer === null ? [] : values(group.peer)];
  // Compared round by round, because what slows the machine in a round slows both.
  const pairs = own.map((value, index) => [value, peers[index] ?? Number.NaN] as const);
  const measured = {
    value: median(own),
    ratio: median(pairs.map(([value, peer]) => value / peer)),
    difference: median(pairs.map(([value, peer]) => value - peer)),
  };
  return [
    figure.label,
    ...group.columns.map((column) => rounded(median(values(column)))),
    ...(group.peer === null ? [] : [rounded(measured.ratio, 2)]),
    figure.target ? describe(figure.target, group.peer) : '',
    figure.target ? verdict(figure.target, measured[figure.target.of]) : '',
  ];
}

function describe({ is, bound, of }: Target, peer: Column | null): string {
  const sign = is === 'most' ? '≤' : '≥';
  if (of === 'value') return `${sign} ${bound}`;
  return of === 'ratio' ? `${sign} ${bound} × ${peer}` : `${sign} ${peer} + ${bound}`;
}

function verdict({ is, bound, of }: Target, value: number): string {
  if (!Number.isFinite(value)) return 'not measured';
  const excess = is === 'most' ? value - bound : bound - value;
  return excess <= 0 ? 'met' : `missed by ${of === 'ratio' ? `${excess.toFixed(2)} ×` : rounded(excess)}`;
}

function rounded(value: number, digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
