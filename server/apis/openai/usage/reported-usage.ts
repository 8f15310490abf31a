/** Reads what a response of OpenAI's API tells about its usage: tokens, a length, images, and the state of its work. Pure. */
import type { Capability } from '../../../contract/capability.ts';
import type { Usage } from '../../../contract/ledger.ts';
import { latestReport, type UsageReports, usageOfAnswer } from '../../core/usage/reported-usage.ts';
import { countOf } from '../../core/usage/token-counts.ts';
import { wholeDocument } from '../../core/usage/whole-document.ts';
import type { KeptAnswer } from '../../core/wire.ts';
import { membersOfBeginning, membersOfEnd } from '../../json/fragment-members.ts';
import { plainReports, responseReports } from './usage-shapes.ts';

interface ReportedUsage {
  usage: Usage | null;
  /** Of a response object; null if it has none. */
  status: string | null;
  /** Number of images in the response; null if they cannot be counted. */
  images: number | null;
}

export function readReportedUsage(capability: Capability, answer: KeptAnswer, isStream: boolean): ReportedUsage {
  const reports = capability === 'responses' ? responseReports : plainReports;
  if (isStream) return fromStream(answer, reports);
  const document = reportsOnlyUsage.has(capability) ? null : wholeDocument(answer);
  return document ? fromDocument(capability, document, reports) : fromEnds(capability, answer, reports);
}

/** Nothing else of their responses is recorded, so that even a short one need not be parsed. */
const reportsOnlyUsage: ReadonlySet<Capability> = new Set(['chat', 'completions', 'embeddings']);

/** For transcriptions and videos without `usage`: the member that holds the duration of the media. */
const lengthNames: Partial<Record<Capability, 'duration' | 'seconds'>> = {
  transcription: 'duration',
  translation: 'duration',
  videos: 'seconds',
};

function fromStream(answer: KeptAnswer, reports: UsageReports): ReportedUsage {
  const { usage = null, owner = null } = latestReport(answer, reports) ?? {};
  const status = reports === responseReports ? owner?.status : null;
  return { usage, status: typeof status === 'string' ? status : null, images: null };
}

function fromDocument(capability: Capability, document: Record<string, unknown>, reports: UsageReports): ReportedUsage {
  const length = lengthNames[capability];
  const { status, data } = document;
  return {
    usage: usageOfAnswer(document, reports) ?? ofLength(length && document[length]),
    status: typeof status === 'string' ? status : null,
    images: capability === 'images' && Array.isArray(data) ? data.length : null,
  };
}

function ofLength(value: unknown): Usage | null {
  const seconds = countOf(value);
  return seconds === undefined ? null : { seconds };
}

function fromEnds(capability: Capability, answer: KeptAnswer, reports: UsageReports): ReportedUsage {
  const { tail, head } = answer;
  const status = capability === 'responses' ? scalarIn(head, 'status', 'beginning') : null;
  const usage = latestReport(answer, reports)?.usage ?? null;
  const length = lengthNames[capability];
  if (usage !== null || !length) return { usage, status, images: null };
  const reported = scalarIn(head, length, 'beginning') ?? scalarIn(tail, length, 'end');
  return { usage: ofLength(reported), status, images: null };
}

const scalar = /^(?:"([\w.-]{1,40})"|(\d{1,20}(?:\.\d{1,20})?))(?=[\s,}])/;

function scalarIn(bytes: Buffer, name: string, end: 'beginning' | 'end'): string | null {
  const members = end === 'beginning' ? membersOfBeginning(bytes, name) : membersOfEnd(bytes, name);
  const member = members.findLast(({ level }) => level === 1);
  const found = member && scalar.exec(bytes.toString('latin1', member.start, member.start + 64));
  return found?.[1] ?? found?.[2] ?? null;
}
