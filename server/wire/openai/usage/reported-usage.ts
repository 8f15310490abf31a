/**
 * Reads the usage that a response reports, only where its API reports it: a response may also echo client data, such as
 * `metadata`. Pure.
 */
import type { Capability } from '../../../contract/capability.ts';
import { isObject } from '../../../contract/is-object.ts';
import type { Usage } from '../../../contract/ledger.ts';
import { membersOfBeginning, membersOfEnd } from '../../json/find-members.ts';
import { wholeDocument } from '../../whole-document.ts';
import { duration, toUsage } from './usage-shapes.ts';

/** The kept part of a response: all of a short one, the beginning and the end of a long one. */
interface KeptResponse {
  tail: Buffer;
  /** The beginning, if `tail` is not the whole response. */
  head: Buffer;
  /** Length of the whole response. */
  bytes: number;
  isStream: boolean;
}

interface ReportedUsage {
  usage: Usage | null;
  /** Of a response object; null if it has none. */
  status: string | null;
  /** Number of images in the response; null if they cannot be counted. */
  images: number | null;
}

const nothing: ReportedUsage = { usage: null, status: null, images: null };

export function readReportedUsage(capability: Capability, response: KeptResponse): ReportedUsage {
  if (response.isStream) return fromStream(capability, response.tail);
  const document = reportsOnlyUsage.has(capability) ? null : wholeDocument(response);
  return document ? fromDocument(capability, document) : fromEnds(capability, response);
}

/** Nothing else of their responses is recorded, so that even a short one need not be parsed. */
const reportsOnlyUsage: ReadonlySet<Capability> = new Set(['chat', 'completions', 'embeddings']);

/** For transcriptions and videos without `usage`: the member that holds the duration of the media. */
const lengthNames: Partial<Record<Capability, 'duration' | 'seconds'>> = {
  transcription: 'duration',
  translation: 'duration',
  videos: 'seconds',
};

function fromDocument(capability: Capability, document: Record<string, unknown>): ReportedUsage {
  const length = lengthNames[capability];
  const { usage, status, data } = document;
  return {
    usage: toUsage(usage) ?? ofLength(length && document[length]),
    status: typeof status === 'string' ? status : null,
    images: capability === 'images' && Array.isArray(data) ? data.length : null,
  };
}

function ofLength(value: unknown): Usage | null {
  const seconds = duration(value);
  return seconds === undefined ? null : { seconds };
}

/** Searches the end first, where nearly all services report usage. */
function fromEnds(capability: Capability, { tail, head }: KeptResponse): ReportedUsage {
  const status = capability === 'responses' ? scalarIn(head, 'status', 'beginning') : null;
  const usage = usageIn(tail, membersOfEnd(tail, 'usage'), 1) ?? usageIn(head, membersOfBeginning(head, 'usage'), 1);
  const length = lengthNames[capability];
  if (usage !== null || !length) return { usage, status, images: null };
  const reported = scalarIn(head, length, 'beginning') ?? scalarIn(tail, length, 'end');
  return { usage: ofLength(reported), status, images: null };
}

function usageIn(bytes: Buffer, members: ReturnType<typeof membersOfEnd>, level: number): Usage | null {
  for (const member of members.reverse()) {
    const isComplete = member.level === level && member.end !== null;
    const usage = isComplete ? toUsage(parse(bytes.toString('utf8', member.start, member.end ?? 0))) : null;
    if (usage !== null) return usage;
  }
  return null;
}

const scalar = /^(?:"([\w.-]{1,40})"|(\d{1,20}(?:\.\d{1,20})?))(?=[\s,}])/;

function scalarIn(bytes: Buffer, name: string, end: 'beginning' | 'end'): string | null {
  const members = end === 'beginning' ? membersOfBeginning(bytes, name) : membersOfEnd(bytes, name);
  const member = members.findLast(({ level }) => level === 1);
  const found = member && scalar.exec(bytes.toString('latin1', member.start, member.start + 64));
  return found?.[1] ?? found?.[2] ?? null;
}

/** Limit of unparsable lines. */
const maxFaults = 8;
const usageKey = '"usage"';

/** The last event that reports usage. */
function fromStream(capability: Capability, tail: Buffer): ReportedUsage {
  let faults = 0;
  let at = tail.lastIndexOf(usageKey);
  while (at !== -1 && faults < maxFaults) {
    const start = startOfLine(tail, at);
    const line = tail.subarray(start, endOfLine(tail, at));
    const reported = fromLine(capability, line, start === 0);
    if (reported === null) faults += 1;
    else if (reported.usage !== null) return reported;
    at = start === 0 ? -1 : tail.lastIndexOf(usageKey, start - 1);
  }
  return nothing;
}

/** Null if the line is not an event. The first line may be cut. */
function fromLine(capability: Capability, line: Buffer, mayBeCut: boolean): ReportedUsage | null {
  const isEvent = line.toString('latin1', 0, eventMark.length) === eventMark;
  if (!isEvent) {
    const level = capability === 'responses' ? 2 : 1;
    return mayBeCut ? { ...nothing, usage: usageIn(line, membersOfEnd(line, 'usage'), level) } : null;
  }
  const event = parse(line.toString('utf8', eventMark.length));
  if (!isObject(event)) return null;
  if (capability !== 'responses') return { ...nothing, usage: usageOfEvent(event) };
  const response = isObject(event.response) ? event.response : {};
  const { usage, status } = response;
  return { ...nothing, usage: toUsage(usage), status: typeof status === 'string' ? status : null };
}

const eventMark = 'data:';

/** At the top level; Groq's in `x_groq` (Portkey-AI/gateway#1072), Moonshot's in the last choice (earendil-works/pi#2017). */
function usageOfEvent({ usage, x_groq: groq, choices }: Record<string, unknown>): Usage | null {
  const reported = toUsage(usage) ?? (isObject(groq) ? toUsage(groq.usage) : null);
  if (reported !== null || !Array.isArray(choices)) return reported;
  const last: unknown = choices.at(-1);
  return isObject(last) ? toUsage(last.usage) : null;
}

const isLineEnd = (byte: number | undefined) => byte === 0x0a || byte === 0x0d;

function startOfLine(bytes: Buffer, from: number): number {
  let at = from;
  while (at > 0 && !isLineEnd(bytes[at - 1])) at -= 1;
  return at;
}

function endOfLine(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && !isLineEnd(bytes[at])) at += 1;
  return at;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
